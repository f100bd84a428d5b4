//! Completions for shells and the pages of the manual, both made from the description of the command line in `args`.

use clap::{Arg, Command, CommandFactory};
use clap_complete::aot;
use clap_mangen::Man;
use fathom_plan::builtin_studies;

use crate::args::{Args, Shell};
use crate::exit::Exit;

/// Where each shell looks for them.
pub(crate) const WHERE_COMPLETIONS_GO: &str = "\
For the user alone (a package of Fathom has them for all):
  bash  fathom completions bash > ~/.local/share/bash-completion/completions/fathom
  zsh   fathom completions zsh > DIR/_fathom, where DIR is one of $fpath
  fish  fathom completions fish > ~/.config/fish/completions/fathom.fish";

/// The argument that may be the name of a study.
const STUDY: &str = "study";

/// The script that makes a shell complete Fathom's words.
pub(crate) fn completions(shell: Shell) -> String {
    let studies: Vec<&'static str> = builtin_studies().iter().map(|(name, _)| *name).collect();
    match shell {
        // Other words than the studies' are completed as files.
        Shell::Bash => script(aot::Bash, with_studies(Args::command(), &studies)),
        Shell::Zsh => {
            let text = script(aot::Zsh, with_studies(Args::command(), &studies));
            // A list alone would keep the names of job files and plans from being completed.
            let listed = studies.join(" ");
            text.replace(
                &format!(":({listed})'"),
                &format!(r#":{{_alternative "studies\:study\:({listed})" "files\:file\:_files"}}'"#),
            )
        }
        Shell::Fish => {
            let mut text = script(aot::Fish, Args::command());
            for command in Args::command().get_subcommands().filter(|command| names_a_study(command)) {
                let (name, listed) = (command.get_name(), studies.join(" "));
                text.push_str(&format!(
                    "complete -c fathom -n \"__fish_fathom_using_subcommand {name}\" -a \"{listed}\"\n"
                ));
            }
            text
        }
    }
}

fn script(generator: impl aot::Generator, mut command: Command) -> String {
    let mut text = Vec::new();
    aot::generate(generator, &mut command, "fathom", &mut text);
    String::from_utf8(text).expect("scripts are text")
}

fn names_a_study(command: &Command) -> bool {
    command.get_positionals().any(|arg| arg.get_id() == STUDY)
}

fn with_studies(command: Command, studies: &[&'static str]) -> Command {
    let studies = studies.to_vec();
    command.mut_subcommands(|sub| {
        if names_a_study(&sub) { sub.mut_arg(STUDY, |arg| arg.value_parser(studies.clone())) } else { sub }
    })
}

/// The pages of the manual, each with the name of its file: `fathom.1` first.
pub(crate) fn pages() -> Vec<(String, String)> {
    let mut all = Args::command().disable_help_subcommand(true).subcommand_help_heading("COMMANDS");
    all.build();
    let mut out = Vec::new();
    add_pages(&all, None, &mut out);
    out
}

fn add_pages(command: &Command, parent: Option<&str>, out: &mut Vec<(String, String)>) {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    out.push((format!("{name}.1"), page(command, name, parent)));
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        add_pages(sub, Some(name), out);
    }
}

fn page(command: &Command, name: &str, parent: Option<&str>) -> String {
    let command = command.clone().subcommand_help_heading("COMMANDS").mut_args(with_aliases);
    let man = Man::new(command.clone());
    // Without a date, so that the same source gives the same page; the generator would leave the empty word out.
    let title = format!(".TH {} 1 \"\" \"fathom {}\" Fathom\n", name.to_uppercase(), env!("CARGO_PKG_VERSION"));
    let mut text = title.into_bytes();
    let write = |out: &mut Vec<u8>| -> std::io::Result<()> {
        man.render_name_section(out)?;
        man.render_synopsis_section(out)?;
        man.render_description_section(out)?;
        man.render_options_section(out)?;
        if command.has_subcommands() {
            man.render_subcommands_section(out)?;
        }
        if command.get_after_long_help().is_some() {
            man.render_extra_section(out)?;
        }
        Ok(())
    };
    write(&mut text).expect("memory takes all that is written");
    let mut text = String::from_utf8(text).expect("pages are text");
    text = text.replacen(".SH EXTRA\n", ".SH NOTES\n", 1);
    match parent {
        None => text.push_str(&exit_status()),
        Some(parent) => text.push_str(&format!(".SH \"SEE ALSO\"\n{parent}(1)\n")),
    }
    text
}

/// The generator of pages knows no other names of an option: they are said with its help, as `--help` says them.
fn with_aliases(arg: Arg) -> Arg {
    let names: Vec<String> =
        arg.get_visible_aliases().unwrap_or_default().iter().map(|alias| format!("--{alias}")).collect();
    if names.is_empty() {
        return arg;
    }
    let help = arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default();
    arg.help(format!("{help} [aliases: {}]", names.join(", "))).long_help(None::<&str>)
}

fn exit_status() -> String {
    let rows = Exit::ALL.map(|exit| format!(".TP\n{}\n{}\n", exit as u8, exit.meaning()));
    format!(".SH \"EXIT STATUS\"\n{}", rows.concat())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;
    use fathom_plan::{builtin_studies, knobs};

    use super::{completions, pages};
    use crate::args::{Args, Shell};
    use crate::exit::Exit;

    const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

    fn page(name: &str) -> String {
        let found = pages().into_iter().find(|(file, _)| file == name);
        // What roff reads as a hyphen is written with a backslash.
        found.unwrap_or_else(|| panic!("no {name}")).1.replace("\\-", "-")
    }

    #[test]
    fn each_command_has_a_page_and_stands_in_the_completions_of_each_shell() {
        let files: BTreeSet<String> = pages().into_iter().map(|(file, _)| file).collect();
        for command in Args::command().get_subcommands() {
            let name = command.get_name();
            assert!(files.contains(&format!("fathom-{name}.1")), "{name}: {files:?}");
            for shell in SHELLS {
                assert!(completions(shell).contains(name), "{name} in {shell:?}");
            }
        }
        assert!(files.contains("fathom.1") && files.contains("fathom-catalogue-show.1"), "{files:?}");
        assert_eq!(files.len(), pages().len(), "no two pages have one name");
    }

    #[test]
    fn the_page_of_io_has_each_flag_with_its_other_names() {
        let page = page("fathom-io.1");
        for (knob, flag) in knobs().filter_map(|knob| Some((knob, knob.flag?))) {
            let names = std::iter::once(&flag.long).chain(flag.aliases);
            for name in names {
                assert!(page.contains(&format!("--{name}")), "--{name} of {}", knob.name);
            }
        }
        let others = page.split_once(".SH NOTES").expect("the knobs without a flag").1;
        for knob in knobs().filter(|knob| knob.flag.is_none()) {
            assert!(others.contains(knob.name), "{}", knob.name);
        }
    }

    #[test]
    fn pages_carry_their_version_and_no_date_and_the_first_one_each_exit_status() {
        let title = format!(".TH FATHOM 1 \"\" \"fathom {}\" Fathom\n", env!("CARGO_PKG_VERSION"));
        let first = page("fathom.1");
        assert!(first.starts_with(&title), "{first}");
        let statuses = first.split_once(".SH \"EXIT STATUS\"").expect("a section").1;
        for (code, exit) in Exit::ALL.into_iter().enumerate() {
            assert_eq!(exit as usize, code);
            assert!(statuses.contains(&format!(".TP\n{code}\n{}", exit.meaning())), "{exit:?} in {statuses}");
        }
        assert!(page("fathom-machines-show.1").ends_with("\nfathom-machines(1)\n"));
    }

    #[test]
    fn a_study_is_completed_and_so_is_a_file() {
        let listed: Vec<&str> = builtin_studies().iter().map(|(name, _)| *name).collect();
        let listed = listed.join(" ");
        for (shell, words) in [
            (Shell::Bash, format!(" {listed}\"")),
            (Shell::Zsh, format!(r#"{{_alternative "studies\:study\:({listed})" "files\:file\:_files"}}'"#)),
            (Shell::Fish, format!("-a \"{listed}\"\n")),
        ] {
            let text = completions(shell);
            assert_eq!(text.matches(&words).count(), 3, "{shell:?}: {words}");
        }
        assert!(!completions(Shell::Zsh).contains(&format!(":({listed})'")), "files are completed beside the studies");
        assert!(completions(Shell::Bash).contains("-o default"));
    }
}
