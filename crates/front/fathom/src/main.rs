//! `fathom`: how fast is this storage, what limits it, and what would change that.

fn main() -> std::process::ExitCode {
    fathom::main()
}
