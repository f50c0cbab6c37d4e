//! A recording as text for a terminal.

use super::{Answer, Flag, Recording};

impl Recording {
    /// Everything, in the order in which it is needed. Commands and code start at the margin, to be copied.
    pub fn text(&self) -> String {
        let mut text = format!("# Record\n\n{}\n\n# What its options do\n\n", self.command);
        for flag in &self.flags {
            text.push_str(&format!("  {}\n      {}\n", flag.text, flag.reason()));
        }
        text.push_str("\n# To know\n\n");
        for note in &self.notes {
            text.push_str(&format!("  - {note}\n"));
        }
        let snippet = &self.snippet;
        text.push_str(&format!("\n# {}: {}\n\n{}", snippet.framework.title(), snippet.place, snippet.code));
        text.push_str("\n# Afterwards\n");
        for next in &self.after {
            text.push_str(&format!("\n  {}:\n\n{}\n", next.what, next.command));
        }
        text.push_str("\n# What the recording answers\n\n");
        for answer in &self.questions {
            text.push_str(&answer.line());
        }
        text
    }
}

impl Flag {
    /// What it does, and which build it takes.
    pub fn reason(&self) -> String {
        match self.since {
            Some(build) => format!("{} Takes nsys {build} or newer.", self.why),
            None => self.why.clone(),
        }
    }
}

impl Answer {
    fn line(&self) -> String {
        let state = if self.recorded { "yes" } else { "no " };
        let how = if self.recorded { String::new() } else { format!(" (add {} to --for)", self.question) };
        format!("  {state}  {}: {}{how}\n", self.answers, self.needs)
    }
}
