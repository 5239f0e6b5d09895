//! `isonomy convert`: a history in another format.

use isonomy::{Format, formats};

use crate::args::ConvertArgs;
use crate::exit::{Exit, Failure};
use crate::files::Target;
use crate::load::{self, Loader};
use crate::output::{Terminal, count};
use crate::progress::Progress;

pub(crate) fn run(args: &ConvertArgs, terminal: Terminal) -> Result<Exit, Failure> {
    let target = Target::new(args.output.as_deref());
    let format = args.to.or_else(|| target.format()).ok_or_else(|| {
        Failure::new("the format of the output is not known")
            .hint("name it with --to, or write to a file that ends in .jsonl, .hist, .ison or .txt")
    })?;
    target.accepts(format)?;
    let progress = Progress::bytes(terminal.shows_progress(), load::total_size([args.input.as_path()]));
    let loader = Loader { format: args.from, memory: load::available_memory(), progress: progress.clone() };
    let loaded = loader.load(&args.input);
    progress.end();
    let history = loaded?.history;
    if format == Format::Text && history.has_times() {
        terminal.note("isonomy: note: format text holds no times; they are left out");
    }
    let written = target.write(|out| formats::write(&history, format, out).expect("the format is writable"))?;
    if let (Some(()), Target::File(path)) = (written, &target) {
        let transactions = count(history.transaction_count(), "transaction");
        terminal.note(&format!("{}: {transactions}, as {format}", path.display()));
    }
    Ok(Exit::Fine)
}
