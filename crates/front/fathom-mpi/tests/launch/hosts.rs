//! Hosts out of network namespaces, and networks between them that are slow or gone.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Hosts that are network namespaces, with names of their own, joined by a bridge.
pub(crate) struct Namespaces {
    name: String,
    count: u32,
    dir: tempfile::TempDir,
    /// What carries the frames of a slow link; ends with its input.
    relay: Option<Child>,
}

/// A link that is slow on the way out of its host and loses frames there.
#[derive(Clone, Copy)]
pub(crate) struct SlowLink {
    pub(crate) host: u32,
    pub(crate) delay_ms: u32,
    pub(crate) loss_pct: u32,
}

/// Whether a command does what it is asked.
fn does(program: &str, words: &str) -> bool {
    let output = Command::new(program).args(words.split(' ')).stdin(Stdio::null()).output();
    output.is_ok_and(|output| output.status.success())
}

impl Namespaces {
    /// So many; `None` where this user may not make any, which is said.
    pub(crate) fn new(count: u32) -> Option<Namespaces> {
        Namespaces::with(count, None)
    }

    /// The same with a slow link.
    #[allow(clippy::print_stderr)] // A test that was not made must not look like one that passed.
    pub(crate) fn with(count: u32, slow: Option<SlowLink>) -> Option<Namespaces> {
        let name = format!("f{}", std::process::id());
        let dir = tempfile::tempdir().expect("a folder");
        let mut hosts = Namespaces { name, count, dir, relay: None };
        if !hosts.make(slow) {
            assert!(std::env::var_os("FATHOM_NO_SKIPS").is_none(), "network namespaces cannot be made here");
            eprintln!("skipped: network namespaces cannot be made here");
            return None;
        }
        Some(hosts)
    }

    fn make(&mut self, slow: Option<SlowLink>) -> bool {
        let name = &self.name.clone();
        let mut made = does("ip", &format!("link add {name}b type bridge"))
            && does("ip", &format!("addr add {}.254/24 dev {name}b", Self::NET))
            && does("ip", &format!("link set {name}b up"));
        let mut hosts = String::new();
        for host in 1..=self.count {
            let space = format!("{name}-{host}");
            let near = format!("{name}n{host}");
            let is_joined = match slow.filter(|slow| slow.host == host) {
                None => does("ip", &format!("link add {name}v{host} type veth peer name {near}")),
                Some(slow) => self.relay(&near, &format!("{name}v{host}"), slow),
            };
            made = made
                && is_joined
                && does("ip", &format!("netns add {space}"))
                && does("ip", &format!("link set {near} netns {space} name eth0"))
                && does("ip", &format!("link set {name}v{host} master {name}b up"))
                && does("ip", &format!("-n {space} addr add {}.{host}/24 dev eth0", Self::NET))
                && does("ip", &format!("-n {space} link set eth0 up"))
                && does("ip", &format!("-n {space} link set lo up"));
            hosts.push_str(&format!("{}.{host} slots=1\n", Self::NET));
        }
        fs::write(self.hostfile(), hosts).expect("a file");
        let agent = format!(
            "#!/bin/sh\nhost=${{1##*.}}; shift\n\
             exec ip netns exec {name}-$host unshare --uts sh -c \"hostname node$host; $*\"\n"
        );
        fs::write(self.agent(), agent).expect("a file");
        fs::set_permissions(self.agent(), fs::Permissions::from_mode(0o755)).expect("may be run");
        made
    }

    /// Starts what carries the frames between two devices that it makes; whether both are there.
    fn relay(&mut self, near: &str, far: &str, slow: SlowLink) -> bool {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/launch/relay.py");
        let mut command = Command::new("python3");
        command.args([script, near, far]).args([slow.delay_ms, slow.loss_pct].map(|n| n.to_string()));
        let Ok(mut relay) = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else { return false };
        let mut said = String::new();
        let is_ready = relay.stdout.take().is_some_and(|out| BufReader::new(out).read_line(&mut said).is_ok());
        self.relay = Some(relay);
        is_ready && said == "ready\n"
    }

    /// Takes the network from a host.
    pub(crate) fn cut_off(&self, host: u32) {
        assert!(does("ip", &format!("link set {}v{host} down", self.name)), "a link can be taken down");
    }

    /// Gives it back.
    pub(crate) fn join_again(&self, host: u32) {
        assert!(does("ip", &format!("link set {}v{host} up", self.name)), "a link can be taken up");
    }

    /// Serves a folder from a host and mounts it here over the network between; `None` without sshfs, which is said.
    #[allow(clippy::print_stderr)] // A test that was not made must not look like one that passed.
    pub(crate) fn mount(&self, host: u32, served: &Path, mounted: &Path) -> Option<Mounted> {
        const SERVER: &str = "/usr/lib/openssh/sftp-server";
        const PORT: &str = "7022";
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/launch/sftp.py");
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("{}-{host}", self.name), "python3", script, SERVER, PORT]);
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("ip is here");
        let mut said = String::new();
        server.stdout.take().map(|out| BufReader::new(out).read_line(&mut said));
        let source = format!("{}.{host}:{}", Self::NET, served.display());
        let words =
            [source.as_str(), &mounted.display().to_string(), "-o", &format!("directport={PORT}")].map(str::to_owned);
        let is_mounted = Path::new(SERVER).exists()
            && Command::new("sshfs").args(words).stdin(Stdio::null()).status().is_ok_and(|status| status.success());
        let mount = Mounted { server, at: mounted.to_owned() };
        if !is_mounted {
            assert!(std::env::var_os("FATHOM_NO_SKIPS").is_none(), "sshfs and sftp-server are not here");
            eprintln!("skipped: sshfs and sftp-server are not here");
            return None;
        }
        Some(mount)
    }

    /// First three numbers of their addresses.
    const NET: &str = "10.213.77";

    /// Addresses of all.
    pub(super) fn net(&self) -> String {
        format!("{}.0/24", Self::NET)
    }

    /// What starts a program on a host.
    pub(super) fn agent(&self) -> String {
        self.dir.path().join("agent").display().to_string()
    }

    /// Their addresses in a file.
    pub(super) fn hostfile(&self) -> PathBuf {
        self.dir.path().join("hosts")
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for host in 1..=self.count {
            does("ip", &format!("netns del {}-{host}", self.name));
        }
        does("ip", &format!("link del {}b", self.name));
        if let Some(mut relay) = self.relay.take() {
            drop(relay.stdin.take());
            // It ends by itself, and its devices with it.
            let _ = relay.wait();
        }
    }
}

/// A folder of another host.
pub(crate) struct Mounted {
    server: Child,
    at: PathBuf,
}

impl Drop for Mounted {
    fn drop(&mut self) {
        does("fusermount3", &format!("-u {}", self.at.display()));
        drop(self.server.stdin.take());
        // It ends by itself.
        let _ = self.server.wait();
    }
}
