//! `make-directory`.

use belljar_contract::GuestPath;
use rustix::io::Errno;

use super::{
    Workspace,
    fault::Fault,
    made::MadeDirectories,
    resolution::{Resolved, resolve},
    status::Kind,
};

/// Makes a directory and its missing parents.
pub(super) fn make_directory(workspace: &Workspace, path: &GuestPath) -> Result<(), Fault> {
    let root = &workspace.root;
    let mut made = MadeDirectories::default();
    match resolve(root, path, Some(&mut made)) {
        Ok(Resolved::Directory { .. }) => {}
        Ok(Resolved::Entry { .. }) if path.must_be_directory() => return Err(Fault::NotDirectory),
        Ok(Resolved::Entry { .. }) => return Err(Fault::Exists),
        Ok(Resolved::Missing { parent, name, .. }) => {
            made.make(&parent, &name).map_err(|fault| match fault {
                // Something else came in between.
                Fault::NotDirectory | Fault::System(Errno::NOTDIR) => Fault::Exists,
                fault => fault,
            })?;
        }
        Err(fault) => {
            // Where the way to it has a fault, that is what there is to say.
            let last = || root.place(path).ok()??.status().ok()?;
            let has = |kind| last().is_some_and(|status| status.kind == kind);
            match fault {
                // The last name's link to nothing is something that has the path; one before it is
                // not.
                Fault::DanglingLink if has(Kind::Link) => return Err(Fault::Exists),
                // It is there, whether it lets us in or not.
                Fault::System(Errno::ACCESS) if has(Kind::Directory) => {}
                fault => return Err(fault),
            }
        }
    }
    made.keep();
    Ok(())
}
