//! Puts the command together: launchers, nsys with its options, program; and what follows from the choices.

use super::launch::{Cut, torchrun_runs_programs};
use super::{Answer, Flag, Launcher, Next, Question, Range, Recording, Request, flags, snippet};
use crate::format::shell_word;

/// Where each part of the command stands.
struct Plan {
    launcher: Launcher,
    /// Everything in front of nsys.
    before: Vec<String>,
    /// What nsys runs.
    program: Vec<String>,
    /// Name of the report.
    name: String,
}

/// Launchers that start one process per GPU and are left as they are: nsys goes around them.
const OTHER_LAUNCHERS: [&str; 2] = ["accelerate", "deepspeed"];

impl Plan {
    fn of(request: &Request) -> Self {
        let cut = Cut::of(&request.program);
        let around = cut.program.first().is_some_and(|word| OTHER_LAUNCHERS.contains(&word.as_str()));
        let found = cut.innermost().or_else(|| around.then_some(Launcher::TorchrunOutside));
        let launcher = request.launcher.or(found).unwrap_or(Launcher::Single);
        match launcher {
            Launcher::Single => Self::single(cut),
            Launcher::TorchrunOutside => Self::around(cut, request.ranks, around),
            Launcher::Torchrun | Launcher::Slurm | Launcher::Mpirun => Self::inside(cut, launcher, request.ranks),
        }
    }

    fn single(cut: Cut) -> Self {
        let mut program: Vec<String> = cut.launchers.into_iter().flat_map(|(_, own)| own).collect();
        program.extend(cut.program);
        Self { launcher: Launcher::Single, before: cut.variables, program: runnable(program), name: "train".to_owned() }
    }

    /// nsys around the launcher of a node; one for every node when Slurm or MPI starts those.
    fn around(cut: Cut, ranks: Option<u32>, other_launcher: bool) -> Self {
        let (mut before, mut program) = (cut.variables, Vec::new());
        let mut launched = other_launcher;
        let mut nodes = false;
        for (launcher, own) in cut.launchers {
            if launcher == Launcher::Torchrun {
                launched = true;
                program.extend(own);
            } else {
                nodes = true;
                before.extend(own);
            }
        }
        if !launched {
            program.extend(default_head(Launcher::Torchrun, ranks));
        }
        let inner = cut.program;
        let python = inner.first().is_some_and(|word| word.starts_with("python"));
        let plain = inner.get(1).is_some_and(|word| !word.starts_with('-') || word == "-m");
        match (launched, python, plain) {
            (true, ..) | (false, false, _) => program.extend(inner),
            // torchrun starts Python by itself.
            (false, true, true) => program.extend(inner.into_iter().skip(1)),
            (false, true, false) => {
                program.push("--no-python".to_owned());
                program.extend(inner);
            }
        }
        let name = if nodes { "node_%h" } else { "train" };
        Self { launcher: Launcher::TorchrunOutside, before, program, name: name.to_owned() }
    }

    /// The launcher starts one nsys for every rank.
    fn inside(cut: Cut, launcher: Launcher, ranks: Option<u32>) -> Self {
        let mut launchers = cut.launchers;
        if !launchers.iter().any(|(found, _)| *found == launcher) {
            let at = if launcher == Launcher::Torchrun { launchers.len() } else { 0 };
            launchers.insert(at, (launcher, default_head(launcher, ranks)));
        }
        let mut program = cut.program;
        let variable = launchers.last().and_then(|(innermost, _)| innermost.rank_variable()).unwrap_or("RANK");
        match launchers.last_mut() {
            Some((Launcher::Torchrun, own)) => (*own, program) = torchrun_runs_programs(own, &program),
            _ => program = runnable(program),
        }
        let mut before = cut.variables;
        before.extend(launchers.into_iter().flat_map(|(_, own)| own));
        Self { launcher, before, program, name: format!("rank%q{{{variable}}}") }
    }

    /// Pattern of the reports' names, for a shell.
    fn reports(&self) -> Option<&'static str> {
        match self.name.split('%').next() {
            Some("rank") => Some("rank*"),
            Some("node_") => Some("node_*"),
            _ => None,
        }
    }
}

/// A launcher with the options that most jobs need.
fn default_head(launcher: Launcher, ranks: Option<u32>) -> Vec<String> {
    let count = |option: &str| ranks.map(|ranks| format!("{option}{ranks}"));
    match launcher {
        Launcher::Torchrun => {
            let processes = count("--nproc-per-node=").unwrap_or_else(|| "--nproc-per-node=gpu".to_owned());
            vec!["torchrun".to_owned(), "--standalone".to_owned(), processes]
        }
        Launcher::Slurm => std::iter::once("srun".to_owned()).chain(count("--ntasks=")).collect(),
        Launcher::Mpirun => {
            let processes = ranks.map(|ranks| ["-np".to_owned(), ranks.to_string()]);
            std::iter::once("mpirun".to_owned()).chain(processes.into_iter().flatten()).collect()
        }
        Launcher::Single | Launcher::TorchrunOutside => Vec::new(),
    }
}

/// A Python file by its bare name is run by Python.
fn runnable(mut program: Vec<String>) -> Vec<String> {
    let bare = |word: &String| word.ends_with(".py") && !word.starts_with(['.', '/']);
    if program.first().is_some_and(bare) {
        program.insert(0, "python".to_owned());
    }
    program
}

pub(super) fn recording(request: &Request) -> Recording {
    let plan = Plan::of(request);
    let mut flags = flags::of(request);
    let why = if plan.reports().is_some() {
        "Names the report after the rank or node, so that none overwrites another and stepscope knows whose it is."
    } else {
        "Names the report."
    };
    flags.push(Flag { text: format!("--output={}", shell_word(&plan.name)), why: why.to_owned(), since: None });
    Recording {
        launcher: plan.launcher,
        range: request.range,
        command: command(&plan, &flags),
        notes: notes(request, &plan),
        snippet: snippet::of(request),
        after: after(request, &plan),
        questions: Question::ALL.map(|question| answer(request, question)).to_vec(),
        flags,
    }
}

fn command(plan: &Plan, flags: &[Flag]) -> String {
    let mut lines = if plan.before.is_empty() { Vec::new() } else { vec![plan.before.join(" ")] };
    lines.push("nsys profile".to_owned());
    lines.extend(flags.iter().map(|flag| flag.text.clone()));
    lines.push(plan.program.join(" "));
    lines.join(" \\\n  ")
}

fn answer(request: &Request, question: Question) -> Answer {
    Answer {
        question: question.word(),
        answers: question.answers(),
        needs: flags::needs(question).to_owned(),
        recorded: question.is_always_recorded() || request.questions.contains(&question),
    }
}

fn notes(request: &Request, plan: &Plan) -> Vec<String> {
    let mut notes = vec![match plan.launcher {
        Launcher::Single => "One process writes one report. With several GPUs choose how the processes are started.".to_owned(),
        Launcher::TorchrunOutside => {
            "One report holds all ranks of a node; stepscope tells them apart by process and device. Recording starts \
             when the first rank starts the profiler and ends when the first one stops it. With many ranks the report \
             grows large: one report per rank is easier to handle."
                .to_owned()
        }
        Launcher::Torchrun | Launcher::Slurm => {
            "Every rank runs under an nsys of its own and writes a report of its own. Open them together: only then are \
             waiting and transfer told apart."
                .to_owned()
        }
        Launcher::Mpirun => {
            "Every rank writes a report of its own. The name takes the rank from Open MPI; under MPICH and Intel MPI write \
             PMI_RANK instead of OMPI_COMM_WORLD_RANK."
                .to_owned()
        }
    }];
    notes.push(match request.range {
        Range::Profiler => {
            format!("The code below records {}. Without it nothing is recorded.", snippet::recorded_steps(request))
        }
        Range::Delay => {
            "The recording begins and ends within steps: those two are shown as cut and left out of means. \
                         Choose the delay so that start-up and the first steps are over."
                .to_owned()
        }
        Range::Whole => {
            "Start-up and warm-up are recorded too, so keep the run to a few dozen steps: nsys is made for \
                         recordings of seconds to a few minutes."
                .to_owned()
        }
    });
    if request.questions.contains(&Question::Nccl) {
        notes.push(format!(
            "Builds of nsys before {} refuse nccl in --trace: leave it out there. NCCL's own NVTX ranges then carry the \
             sizes.",
            flags::NCCL_SINCE
        ));
    }
    if request.questions.contains(&Question::Metrics) && plan.reports().is_some() {
        notes.push(
            "Only one nsys at a time can sample a card. With an nsys for every rank, take the metrics in a run of one \
             rank, or from outside the launcher."
                .to_owned(),
        );
    }
    notes.push(
        "A report holds the environment and the command line of the program. Look for secrets before you share it."
            .to_owned(),
    );
    notes
}

fn after(request: &Request, plan: &Plan) -> Vec<Next> {
    let payloads = if request.questions.contains(&Question::Nccl) { " --include-blobs=true" } else { "" };
    let export = match plan.reports() {
        Some(reports) => format!(
            "for report in {reports}.nsys-rep; do\n  nsys export --type sqlite{payloads} --output \
             \"${{report%.nsys-rep}}.sqlite\" \"$report\"\ndone"
        ),
        None => format!(
            "nsys export --type sqlite{payloads} --output {name}.sqlite {name}.nsys-rep",
            name = shell_word(&plan.name)
        ),
    };
    let files = plan.reports().unwrap_or(&plan.name);
    vec![
        Next { what: "Export as SQLite", command: export },
        Next { what: "See where the step went", command: format!("stepscope {files}.sqlite") },
        Next {
            what: "The same as text, with a checklist at its end",
            command: format!("stepscope report {files}.sqlite"),
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(launcher: Option<Launcher>, program: &str) -> Request {
        let program = program.split(' ').map(str::to_owned).collect();
        Request { launcher, program, ranks: Some(8), questions: Vec::new(), range: Range::Whole, ..Request::default() }
    }

    /// What stands in front of nsys, the report's name, and what nsys runs.
    fn parts(request: &Request) -> (String, String, String) {
        let plan = Plan::of(request);
        (plan.before.join(" "), plan.name, plan.program.join(" "))
    }

    #[test]
    fn each_launcher_gets_nsys_where_it_belongs() {
        use Launcher::{Mpirun, Single, Slurm, Torchrun, TorchrunOutside};
        let cases = [
            (Some(Single), "python train.py", ("", "train", "python train.py")),
            (None, "train.py --lr 1", ("", "train", "python train.py --lr 1")),
            (
                Some(Torchrun),
                "python train.py",
                ("torchrun --standalone --nproc-per-node=8 --no-python", "rank%q{RANK}", "python train.py"),
            ),
            (
                None,
                "torchrun --nproc-per-node 2 train.py",
                ("torchrun --nproc-per-node 2 --no-python", "rank%q{RANK}", "python train.py"),
            ),
            (
                Some(TorchrunOutside),
                "python train.py",
                ("", "train", "torchrun --standalone --nproc-per-node=8 train.py"),
            ),
            (
                Some(TorchrunOutside),
                "python -m pkg.train",
                ("", "train", "torchrun --standalone --nproc-per-node=8 -m pkg.train"),
            ),
            (
                Some(TorchrunOutside),
                "srun -N 2 torchrun --nproc-per-node=8 train.py",
                ("srun -N 2", "node_%h", "torchrun --nproc-per-node=8 train.py"),
            ),
            (None, "accelerate launch train.py", ("", "train", "accelerate launch train.py")),
            (Some(Slurm), "python train.py", ("srun --ntasks=8", "rank%q{SLURM_PROCID}", "python train.py")),
            (
                Some(Slurm),
                "torchrun --nproc-per-node=8 train.py",
                ("srun --ntasks=8 torchrun --nproc-per-node=8 --no-python", "rank%q{RANK}", "python train.py"),
            ),
            (None, "srun -n 4 python train.py", ("srun -n 4", "rank%q{SLURM_PROCID}", "python train.py")),
            (Some(Mpirun), "python train.py", ("mpirun -np 8", "rank%q{OMPI_COMM_WORLD_RANK}", "python train.py")),
            (None, "A=1 python train.py", ("A=1", "train", "python train.py")),
        ];
        for (launcher, program, (before, name, runs)) in cases {
            let expected = (before.to_owned(), name.to_owned(), runs.to_owned());
            assert_eq!(parts(&request(launcher, program)), expected, "{launcher:?} {program}");
        }
    }

    #[test]
    fn the_command_reads_launcher_then_nsys_then_program() {
        let command = request(Some(Launcher::Torchrun), "python train.py").recording().command;
        let expected = "torchrun --standalone --nproc-per-node=8 --no-python \\\n  nsys profile \\\n  --trace=cuda,nvtx \\\n  \
                        --sample=none \\\n  --cpuctxsw=none \\\n  --force-overwrite=true \\\n  \
                        --output='rank%q{RANK}' \\\n  python train.py";
        assert_eq!(command, expected);
    }

    #[test]
    fn payloads_are_exported_when_sizes_are_asked_for() {
        let mut request = request(Some(Launcher::Slurm), "python train.py");
        assert!(!request.recording().after[0].command.contains("--include-blobs"));
        request.questions = vec![Question::Nccl];
        let recording = request.recording();
        assert!(recording.after[0].command.contains("--include-blobs=true"));
        assert!(recording.notes.iter().any(|note| note.contains("2025.6.1")));
        assert_eq!(recording.flags[0].since, Some("2025.6.1"));
    }

    #[test]
    fn each_question_says_whether_it_is_answered() {
        let request = Request { questions: vec![Question::Os], ..Request::default() };
        let answered: Vec<&str> = request
            .recording()
            .questions
            .iter()
            .filter(|answer| answer.recorded)
            .map(|answer| answer.question)
            .collect();
        assert_eq!(answered, ["steps", "idle", "os"]);
    }
}
