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
        // The last name's link to nothing is something that has the path; one before it is not.
        Err(Fault::DanglingLink) => {
            let last = root.place(path)?.map(|place| place.status()).transpose()?;
            return Err(match last.flatten() {
                Some(status) if status.kind == Kind::Link => Fault::Exists,
                _ => Fault::DanglingLink,
            });
        }
        Err(fault) => return Err(fault),
    }
    made.keep();
    Ok(())
}
