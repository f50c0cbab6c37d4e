//! Finds the launchers at the head of a command, so that nsys can be put between them and the program.

use super::Launcher;

/// A command cut where nsys goes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Cut {
    /// Variables set for the command, in front of everything.
    pub variables: Vec<String>,
    /// Launchers with their options, outermost first.
    pub launchers: Vec<(Launcher, Vec<String>)>,
    /// The program that each process runs.
    pub program: Vec<String>,
}

/// Options of torchrun that take no value.
const TORCHRUN_SWITCHES: [&str; 5] = ["--standalone", "-m", "--module", "--no-python", "--run-path"];

impl Cut {
    /// Cuts `words`. Launchers that are not known here stay part of the program.
    pub fn of(words: &[String]) -> Self {
        let assigned = words.iter().take_while(|word| is_assignment(word)).count();
        let (variables, mut rest) = words.split_at(assigned);
        let mut cut = Self { variables: variables.to_vec(), ..Self::default() };
        while let Some((launcher, length)) = head(rest) {
            let (own, inner) = rest.split_at(length);
            cut.launchers.push((launcher, own.to_vec()));
            rest = inner;
        }
        cut.program = rest.to_vec();
        cut
    }

    /// The innermost launcher.
    pub fn innermost(&self) -> Option<Launcher> {
        self.launchers.last().map(|(launcher, _)| *launcher)
    }
}

/// The launcher that `words` begin with, and how many of them are its own.
fn head(words: &[String]) -> Option<(Launcher, usize)> {
    let (launcher, length) = match file_name(words.first()?) {
        "torchrun" => (Launcher::Torchrun, 1 + torchrun_options(words.get(1..)?)),
        python if python.starts_with("python") && runs_torchrun(words) => {
            (Launcher::Torchrun, 3 + torchrun_options(words.get(3..)?))
        }
        "srun" => (Launcher::Slurm, program_after(words)),
        "mpirun" | "mpiexec" => (Launcher::Mpirun, program_after(words)),
        _ => return None,
    };
    (length < words.len()).then_some((launcher, length))
}

fn runs_torchrun(words: &[String]) -> bool {
    let module = words.get(1).filter(|word| *word == "-m").and_then(|_| words.get(2));
    module.is_some_and(|module| matches!(module.as_str(), "torch.distributed.run" | "torch.distributed.launch"))
}

fn torchrun_options(words: &[String]) -> usize {
    let mut at = 0;
    while let Some(option) = words.get(at).filter(|word| word.starts_with('-')) {
        let alone = option.contains('=') || TORCHRUN_SWITCHES.contains(&option.replace('_', "-").as_str());
        at += if alone { 1 } else { 2 };
    }
    at.min(words.len())
}

/// Where the program begins: at the first word that looks like one, else behind the options that seem to lead.
fn program_after(words: &[String]) -> usize {
    let looks_like_a_program = |word: &String| {
        let name = file_name(word);
        let known = ["torchrun", "bash", "sh", "uv", "apptainer", "singularity"];
        !word.starts_with('-')
            && (name.starts_with("python") || name.ends_with(".py") || name.ends_with(".sh") || known.contains(&name))
    };
    if let Some(at) = words.iter().skip(1).position(looks_like_a_program) {
        return at + 1;
    }
    let mut at = 1;
    while let Some(option) = words.get(at).filter(|word| word.starts_with('-')) {
        at += if option.contains('=') { 1 } else { 2 };
    }
    at
}

/// `NAME=value`, which a shell takes as a variable in front of a command only.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        starts && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn file_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// How torchrun is told to run a program that is no Python file: its options without `-m`, and the program with it.
pub(super) fn torchrun_runs_programs(options: &[String], program: &[String]) -> (Vec<String>, Vec<String>) {
    let is = |word: &String, names: [&str; 2]| names.contains(&word.replace('_', "-").as_str());
    let module = options.iter().any(|word| is(word, ["-m", "--module"]));
    let programs = options.iter().any(|word| is(word, ["--no-python", "--no-python"]));
    let mut head: Vec<String> = options
        .iter()
        .filter(|word| !is(word, ["-m", "--module"]) && !is(word, ["--run-path", "--no-python"]))
        .cloned()
        .collect();
    head.push("--no-python".to_owned());
    let mut inner: Vec<String> = Vec::new();
    let names_python = program.first().is_some_and(|word| file_name(word).starts_with("python"));
    if module {
        inner.extend(["python", "-m"].map(str::to_owned));
    } else if !programs && !names_python {
        inner.push("python".to_owned());
    }
    inner.extend(program.iter().cloned());
    (head, inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn cut(text: &str) -> (Vec<(Launcher, String)>, String) {
        let cut = Cut::of(&words(text));
        let launchers = cut.launchers.into_iter().map(|(launcher, own)| (launcher, own.join(" "))).collect();
        (launchers, cut.program.join(" "))
    }

    #[test]
    fn launchers_are_told_from_the_program() {
        let cases = [
            ("python train.py --n 8", vec![], "python train.py --n 8"),
            (
                "torchrun --nnodes 2 --nproc_per_node=8 --standalone train.py -m x",
                vec![(Launcher::Torchrun, "torchrun --nnodes 2 --nproc_per_node=8 --standalone")],
                "train.py -m x",
            ),
            (
                "torchrun --nproc-per-node 8 -m pkg.train --lr 1",
                vec![(Launcher::Torchrun, "torchrun --nproc-per-node 8 -m")],
                "pkg.train --lr 1",
            ),
            (
                "python3 -m torch.distributed.run --nproc-per-node 8 train.py",
                vec![(Launcher::Torchrun, "python3 -m torch.distributed.run --nproc-per-node 8")],
                "train.py",
            ),
            ("srun -n 8 -l python train.py", vec![(Launcher::Slurm, "srun -n 8 -l")], "python train.py"),
            ("srun -n 8 ./run", vec![(Launcher::Slurm, "srun -n 8")], "./run"),
            (
                "srun -N 2 torchrun --nproc-per-node 8 train.py",
                vec![(Launcher::Slurm, "srun -N 2"), (Launcher::Torchrun, "torchrun --nproc-per-node 8")],
                "train.py",
            ),
            (
                "mpirun -np 8 -x PATH /opt/bin/python3.11 train.py",
                vec![(Launcher::Mpirun, "mpirun -np 8 -x PATH")],
                "/opt/bin/python3.11 train.py",
            ),
            ("accelerate launch train.py", vec![], "accelerate launch train.py"),
            ("torchrun --standalone", vec![], "torchrun --standalone"),
        ];
        for (text, launchers, program) in cases {
            let launchers = launchers.into_iter().map(|(launcher, own)| (launcher, own.to_owned())).collect();
            assert_eq!(cut(text), (launchers, program.to_owned()), "{text}");
        }
    }

    #[test]
    fn variables_in_front_stay_in_front() {
        let cut = Cut::of(&words("OMP_NUM_THREADS=4 torchrun --nproc-per-node=2 train.py lr=1"));
        assert_eq!(cut.variables, ["OMP_NUM_THREADS=4"]);
        assert_eq!((cut.innermost(), cut.program.join(" ")), (Some(Launcher::Torchrun), "train.py lr=1".to_owned()));
    }

    #[test]
    fn torchrun_starts_nsys_instead_of_python() {
        let of = |options: &str, program: &str| {
            let (head, inner) = torchrun_runs_programs(&words(options), &words(program));
            (head.join(" "), inner.join(" "))
        };
        let expected = |head: &str, inner: &str| (head.to_owned(), inner.to_owned());
        assert_eq!(of("torchrun", "train.py a"), expected("torchrun --no-python", "python train.py a"));
        assert_eq!(of("torchrun", "python3 train.py"), expected("torchrun --no-python", "python3 train.py"));
        assert_eq!(of("torchrun -m", "pkg.train"), expected("torchrun --no-python", "python -m pkg.train"));
        assert_eq!(of("torchrun --no_python", "./run"), expected("torchrun --no-python", "./run"));
    }
}
