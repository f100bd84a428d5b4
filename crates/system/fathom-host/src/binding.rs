//! What the targets of a run are today: where each is, how it is opened, and the consent to write to it.

use crate::system::{AsFd as _, OwnedFd};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::system::files::OFlags;
use fathom_nvme::driver::DrivenNamespace;
use fathom_plan::TargetId;

use crate::disk::{BlockDevice, whole_device_of};
use crate::guard::{Permit, Refusal, WriteConsent, check_write_target};
use crate::node::{Identity, Node, OpenError};
use crate::own_folder::OwnFolder;
use crate::root::Root;
use crate::thread_folder::ThreadFolder;

/// What kind of thing I/O goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// Nothing: the `null` target.
    Null,
    /// A regular file.
    File,
    /// A block device.
    Block,
    /// The character device of an NVMe namespace.
    Generic,
    /// An array that Fathom itself spreads over its members, each of which is bound by itself.
    Array,
    /// A folder that Fathom made: files are made, looked at and removed in it.
    Folder,
    /// A namespace of a drive that this process drives by itself, past the kernel.
    UserSpace,
}

/// How a target is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// For writing as well: needs the consent.
    pub writes: bool,
    /// Further flags of open(2).
    pub flags: OFlags,
}

/// What one target is today.
#[derive(Clone, Debug)]
pub struct Binding {
    target: TargetId,
    kind: TargetKind,
    /// `None` for the `null` target.
    node: Option<Arc<Node>>,
    consent: Option<WriteConsent>,
    /// The whole device below it; files on tmpfs and the like have none.
    device: Option<BlockDevice>,
    /// Measured bytes of a file that Fathom made; it is a little longer.
    made_bytes: Option<u64>,
    /// Of a folder that Fathom made.
    /// What it is pinned by, and where it was made.
    folder: Option<(Arc<OwnedFd>, PathBuf)>,
    /// Of a drive in user space.
    namespace: Option<DrivenNamespace>,
}

impl Binding {
    /// The `null` target.
    #[must_use]
    pub fn null(target: TargetId) -> Binding {
        let (kind, node, consent) = (TargetKind::Null, None, None);
        Binding { target, kind, node, consent, device: None, made_bytes: None, folder: None, namespace: None }
    }

    /// An array in user space: nothing is opened for it but its members, each by its own binding.
    #[must_use]
    pub fn array(target: TargetId) -> Binding {
        Binding { kind: TargetKind::Array, ..Binding::null(target) }
    }

    /// A folder that Fathom made for the target: no consent is needed to work in it.
    #[must_use]
    pub fn folder(root: &Root, target: TargetId, own: &OwnFolder) -> Binding {
        let device = whole_device_of(root, own.path()).ok();
        Binding {
            kind: TargetKind::Folder,
            device,
            folder: Some((own.pin(), own.path().to_owned())),
            ..Binding::null(target)
        }
    }

    /// A namespace that this process drives, for the target that `self` was while the kernel drove it: with the consent that
    /// was given to that.
    #[must_use]
    pub fn in_user_space(&self, namespace: DrivenNamespace) -> Binding {
        Binding { kind: TargetKind::UserSpace, node: None, namespace: Some(namespace), ..self.clone() }
    }

    /// The namespace of a drive in user space.
    #[must_use]
    pub fn driven(&self) -> Option<&DrivenNamespace> {
        self.namespace.as_ref()
    }

    /// Whether both lead to the same file or drive, by whatever names; whole drives and their partitions are not the same.
    #[must_use]
    pub fn is_same(&self, other: &Binding) -> bool {
        let identity = |binding: &Binding| binding.as_block_device().node.map(|node| node.identity().clone());
        identity(self).is_some() && identity(self) == identity(other)
    }

    /// Compares it with what its target was when it was looked at before.
    ///
    /// # Errors
    /// [`OpenError::Changed`]: the path leads to something else by now.
    pub fn check_unchanged(&self, before: &Binding) -> Result<(), OpenError> {
        match (&before.node, &self.node) {
            (Some(was), Some(is)) if was.identity() != is.identity() => Err(was.changed(Some(is.identity().clone()))),
            _ => Ok(()),
        }
    }

    /// What `path`, which is there, is today: judged by the guard where it is to be written, only looked at otherwise.
    ///
    /// # Errors
    /// [`Refusal`].
    pub fn existing(
        root: &Root,
        target: TargetId,
        path: &Path,
        writes: bool,
        permit: &Permit<'_>,
    ) -> Result<Binding, Refusal> {
        crate::system::guard::refuse_path(path)?;
        if !writes {
            return Binding::to_read(root, target, path).map_err(|error| Refusal::unreadable(path, &error));
        }
        let consent = check_write_target(root, path, permit)?;
        Binding::to_write(root, target, consent).map_err(|error| Refusal::unreadable(path, &error))
    }

    /// A target that is only read.
    ///
    /// # Errors
    /// As stat(2); `InvalidInput` for what is neither a file, nor a block device, nor an NVMe namespace.
    pub fn to_read(root: &Root, target: TargetId, path: &Path) -> io::Result<Binding> {
        Binding::of(root, target, Arc::new(Node::at(root, path)?), None)
    }

    /// A target that may be written.
    ///
    /// # Errors
    /// `InvalidInput` for a consent to drives that are opened by no path (a PCI address).
    pub fn to_write(root: &Root, target: TargetId, consent: WriteConsent) -> io::Result<Binding> {
        let node = consent.node().cloned().ok_or(io::ErrorKind::InvalidInput)?;
        Binding::of(root, target, node, Some(consent))
    }

    fn of(root: &Root, target: TargetId, node: Arc<Node>, consent: Option<WriteConsent>) -> io::Result<Binding> {
        let kind = match node.identity() {
            Identity::File { .. } => TargetKind::File,
            Identity::Block { .. } => TargetKind::Block,
            Identity::Generic { .. } => TargetKind::Generic,
            Identity::Other => return Err(io::ErrorKind::InvalidInput.into()),
        };
        let device = whole_device_of(root, node.path()).ok();
        Ok(Binding { target, kind, node: Some(node), consent, device, made_bytes: None, folder: None, namespace: None })
    }

    /// The same for a file that Fathom made, of which only so many bytes are measured.
    #[must_use]
    pub fn with_made_bytes(self, bytes: u64) -> Binding {
        Binding { made_bytes: Some(bytes), ..self }
    }

    /// The same without a claim on the device; only for what gives it to Linux md meanwhile.
    pub(crate) fn parked(self) -> Binding {
        Binding { consent: self.consent.map(WriteConsent::parked), ..self }
    }

    /// The same without a claim on the device, whose kernel device is gone.
    #[must_use]
    pub fn without_claim(&self) -> Binding {
        self.clone().parked()
    }

    /// The same with the claim again.
    ///
    /// # Errors
    /// [`OpenError`].
    pub(crate) fn claimed_again(self) -> Result<Binding, OpenError> {
        let consent = self.consent.map(WriteConsent::claimed_again).transpose()?;
        Ok(Binding { consent, ..self })
    }

    /// Its name in the plan.
    #[must_use]
    pub fn target(&self) -> &TargetId {
        &self.target
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self) -> TargetKind {
        self.kind
    }

    /// Where it is today; the name of the plan for the `null` target.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.node.as_ref().map_or(Path::new(self.target.as_str()), |node| node.path())
    }

    /// The whole device below it.
    #[must_use]
    pub fn device(&self) -> Option<&BlockDevice> {
        self.device.as_ref()
    }

    /// What the guard lets be written.
    #[must_use]
    pub fn consent(&self) -> Option<&WriteConsent> {
        self.consent.as_ref()
    }

    /// Measured bytes of a file that Fathom made.
    #[must_use]
    pub fn made_bytes(&self) -> Option<u64> {
        self.made_bytes
    }

    /// The folder of one thread, called `name`, in a folder that Fathom made; it is made unless it is there.
    ///
    /// # Errors
    /// `InvalidInput` for what is no such folder; as [`ThreadFolder::within`].
    pub fn thread_folder(&self, name: &str) -> io::Result<ThreadFolder> {
        let (own, path) = self.folder.as_ref().ok_or(io::ErrorKind::InvalidInput)?;
        ThreadFolder::within(own.as_fd(), path, name)
    }

    /// Device number of a block device or character device; `None` for files.
    #[must_use]
    pub fn device_number(&self) -> Option<u64> {
        match self.node.as_ref()?.identity() {
            Identity::Block { number, .. } | Identity::Generic { number, .. } => Some(*number),
            Identity::File { .. } | Identity::Other => None,
        }
    }

    /// Opens it, if it is still what it was when it was bound.
    ///
    /// # Errors
    /// [`OpenError::Changed`] when its path leads elsewhere, [`OpenError::NoConsent`] for writing without one; then nothing
    /// was opened for writing.
    pub fn open(&self, access: Access) -> Result<File, OpenError> {
        let no_consent = || OpenError::NoConsent { path: self.path().to_owned() };
        if access.writes {
            return self.consent.as_ref().ok_or_else(no_consent)?.open(access.flags);
        }
        self.node.as_ref().ok_or_else(no_consent)?.open_to_read(access.flags)
    }

    pub(crate) fn node(&self) -> Option<&Arc<Node>> {
        self.node.as_ref()
    }

    /// The same target by another node of it.
    pub(crate) fn through(&self, kind: TargetKind, node: Arc<Node>, consent: Option<WriteConsent>) -> Binding {
        Binding { kind, node: Some(node), consent, ..self.clone() }
    }

    /// The same target as a block device, where it is the character device of the same blocks; else itself.
    #[must_use]
    pub fn as_block_device(&self) -> Binding {
        let consent = self.consent.as_ref().filter(|_| self.kind == TargetKind::Generic);
        match consent.and_then(WriteConsent::to_block_device) {
            Some(consent) => Binding {
                kind: TargetKind::Block,
                node: consent.node().cloned(),
                consent: Some(consent),
                ..self.clone()
            },
            None => self.clone(),
        }
    }
}

/// What all targets of a run are today. One for each run, and for each time that it goes on.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    bound: BTreeMap<TargetId, Binding>,
    failed: FailedMembers,
}

impl Bindings {
    /// Adds what a target is.
    pub fn add(&mut self, binding: Binding) {
        self.bound.insert(binding.target.clone(), binding);
    }

    /// Takes out what a target is.
    pub fn take(&mut self, target: &TargetId) -> Option<Binding> {
        self.bound.remove(target)
    }

    /// What a target is.
    #[must_use]
    pub fn get(&self, target: &TargetId) -> Option<&Binding> {
        self.bound.get(target)
    }

    /// All of them, by the names of the targets.
    pub fn iter(&self) -> impl Iterator<Item = &Binding> {
        self.bound.values()
    }

    /// The members of arrays that failed during the run.
    #[must_use]
    pub fn failed_members(&self) -> &FailedMembers {
        &self.failed
    }
}

impl FromIterator<Binding> for Bindings {
    fn from_iter<I: IntoIterator<Item = Binding>>(bindings: I) -> Bindings {
        let bound = bindings.into_iter().map(|b| (b.target.clone(), b)).collect();
        Bindings { bound, failed: FailedMembers::default() }
    }
}

/// Members of arrays in user space that failed during a run, or whose rebuild did not come to its end. What such a member
/// holds is out of date from then on, so that no later step may read it either; all copies of this are one.
#[derive(Clone, Debug, Default)]
pub struct FailedMembers(Arc<Mutex<OutOfDate>>);

#[derive(Debug, Default)]
struct OutOfDate {
    failed: BTreeSet<TargetId>,
    /// Arrays, and the members that they lack; to other arrays these are as good as any.
    unfinished: BTreeSet<(TargetId, TargetId)>,
}

impl FailedMembers {
    fn held(&self) -> MutexGuard<'_, OutOfDate> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a member failed.
    pub fn note(&self, member: &TargetId) {
        self.held().failed.insert(member.clone());
    }

    /// Whether a member failed.
    #[must_use]
    pub fn has(&self, member: &TargetId) -> bool {
        self.held().failed.contains(member)
    }

    /// Notes that `array` lacks a member that is being rebuilt, or that it is whole again.
    pub fn note_rebuild(&self, array: &TargetId, member: &TargetId, is_whole: bool) {
        let of = (array.clone(), member.clone());
        if is_whole {
            self.held().unfinished.remove(&of);
        } else {
            self.held().unfinished.insert(of);
        }
    }

    /// Whether the rebuild of a member of `array` did not come to its end.
    #[must_use]
    pub fn is_unfinished(&self, array: &TargetId, member: &TargetId) -> bool {
        self.held().unfinished.contains(&(array.clone(), member.clone()))
    }
}
