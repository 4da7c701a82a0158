//! Ways out of the workspace by a link that changes while it is used.

use super::escapes::unharmed;
use belljar_contract::{ErrorKind, Expected};

use crate::{
    case::{Case, LINKS_BY_HOST, Verdict, case},
    check::{same_bytes, that},
    fixture::Fixture,
};

pub(super) const CASES: &[Case] = &[
    case!(
        swapped_file,
        "escapes/by-a-link-swapped-while-reading",
        "While a name turns from a file into a link that leaves and back, no read leaves.",
        LINKS_BY_HOST
    ),
    case!(
        swapped_parent,
        "escapes/by-a-parent-swapped-while-writing",
        "While a parent turns from inside to outside and back, no change lands outside.",
        LINKS_BY_HOST
    ),
];

async fn swapped_file(f: &Fixture) -> Verdict {
    let outside = f.outside.outside_directory().await?;
    let secret = format!("{outside}/secret.txt");
    f.put("real", "inside").await?;
    f.symlink("real", "name").await?;
    let swapping = f.meanwhile(move |f| async move {
        for _ in 0..1500 {
            f.outside.swap_symlink(&secret, &f.path("name")).await?;
            f.outside.swap_symlink("real", &f.path("name")).await?;
        }
        Ok(())
    });
    let (mut read, mut refused) = (0, 0);
    while read + refused < 3000 {
        match f.read("name").await {
            Ok(content) => same_bytes("a read", &content.bytes, b"inside").map(|()| read += 1)?,
            Err(error) if error.kind == ErrorKind::AccessDenied => refused += 1,
            Err(error) => return Err(error.into()),
        }
    }
    swapping.await
}

async fn swapped_parent(f: &Fixture) -> Verdict {
    let outside = f.outside.outside_directory().await?;
    f.make_directory("real").await?;
    f.symlink("real", "dir").await?;
    let swapping = f.meanwhile(move |f| async move {
        for _ in 0..1000 {
            f.outside.swap_symlink(&outside, &f.path("dir")).await?;
            f.outside.swap_symlink("real", &f.path("dir")).await?;
        }
        Ok(())
    });
    for round in 0..500 {
        let name = format!("dir/new{round}");
        for result in [
            f.write(&name, "x", Expected::Any).await.map(drop),
            f.append("dir/log", "x", Expected::Any).await.map(drop),
            f.make_directory("dir/made/deep").await,
            f.remove("dir/secret.txt", false).await,
        ] {
            if let Err(error) = result {
                let fair = matches!(error.kind, ErrorKind::AccessDenied | ErrorKind::NotFound);
                that(fair, &format!("unexpected {}: {error}", error.kind))?;
            }
        }
    }
    swapping.await?;
    unharmed(f).await
}
