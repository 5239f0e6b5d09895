//! Ends the command when the program that started it is gone, however that went.
//!
//! A program that wants this sets `ISONOMY_END_WITH=stdin`, and keeps the other end of standard input open for as long as it lives. The
//! operating system closes it with the program, even if that is killed; then the command does what it does on ctrl-C.

use std::{env, io, thread};

use signal_hook::consts::SIGINT;
use signal_hook::low_level::raise;

/// Begins to watch, if whoever started the command asks for it.
pub(crate) fn watch() {
    if env::var_os("ISONOMY_END_WITH").is_none_or(|value| value != "stdin") {
        return;
    }
    thread::spawn(|| {
        // Nobody writes; all that can come is the end.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = raise(SIGINT);
    });
}
