//! The ranges to put into a training loop, for each framework.
//!
//! Names follow what the analysis looks for: a step word with a counter, then `dataloader`, `forward`, `backward`,
//! `optimizer` inside.

use super::{Framework, Question, Range, Request, Snippet};

/// The code for `request`.
pub(super) fn of(request: &Request) -> Snippet {
    let (place, code) = match request.framework {
        Framework::PyTorch => ("Around the body of the training loop", PYTORCH),
        Framework::HuggingFace => ("Beside the training script; pass both to your Trainer as below", HUGGING_FACE),
        Framework::Lightning => ("Beside the training script; pass the callback to your Trainer", LIGHTNING),
        Framework::Megatron => {
            ("Arguments of the training command, and one range in megatron/training/training.py", MEGATRON)
        }
        Framework::DeepSpeed => ("Around the body of the training loop", DEEPSPEED),
    };
    let gc = request.questions.contains(&Question::Gc);
    Snippet { framework: request.framework, place, code: filled(code, request, gc) }
}

/// "steps 10 to 14".
pub(super) fn recorded_steps(request: &Request) -> String {
    let (first, end) = bounds(request);
    if end - first == 1 { format!("step {first}") } else { format!("steps {first} to {}", end - 1) }
}

/// First recorded step and the first one after.
fn bounds(request: &Request) -> (u64, u64) {
    let first = u64::from(request.skip);
    (first, first + u64::from(request.length.max(1)))
}

/// Keeps the lines of the request: those that end in `#profiler` are there for that range only, without the sign.
fn filled(code: &str, request: &Request, gc: bool) -> String {
    let profiler = request.range == Range::Profiler;
    let (first, end) = bounds(request);
    let lines = code.trim_start_matches('\n').lines().filter_map(|line| match line.strip_suffix("#profiler") {
        Some(line) => profiler.then(|| line.trim_end()),
        None => Some(line),
    });
    let mut text = String::new();
    for line in lines {
        text.push_str(&line.replace("FIRST_STEP", &first.to_string()).replace("END_STEP", &end.to_string()));
        text.push('\n');
    }
    if gc && request.framework != Framework::Megatron {
        text.push_str(GC);
    }
    text
}

const PYTORCH: &str = r#"
import torch
from torch.cuda import nvtx

# Steps FIRST to END - 1 are recorded; those before warm up.                               #profiler
FIRST, END = FIRST_STEP, END_STEP                                                          #profiler

batches = iter(loader)
for step in range(steps):
    if step == FIRST:                                                                      #profiler
        # So that no work of the step before is cut in half.                               #profiler
        torch.cuda.synchronize()                                                           #profiler
        torch.cuda.profiler.start()                                                        #profiler
    nvtx.range_push(f"step {step}")
    with nvtx.range("dataloader"):
        batch = next(batches)
    with nvtx.range("forward"):
        loss = model(batch)
    with nvtx.range("backward"):
        loss.backward()
    with nvtx.range("optimizer"):
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    nvtx.range_pop()
    if step == END - 1:                                                                    #profiler
        torch.cuda.synchronize()                                                           #profiler
        torch.cuda.profiler.stop()                                                         #profiler
"#;

const HUGGING_FACE: &str = r#"
import torch
from torch.cuda import nvtx
from transformers import Trainer, TrainerCallback

# Steps FIRST to END - 1 are recorded; those before warm up.                               #profiler
FIRST, END = FIRST_STEP, END_STEP                                                          #profiler


class MarkSteps(TrainerCallback):
    def on_step_begin(self, args, state, control, **kwargs):
        if state.global_step == FIRST:                                                     #profiler
            torch.cuda.synchronize()                                                       #profiler
            torch.cuda.profiler.start()                                                    #profiler
        nvtx.range_push(f"step {state.global_step}")

    def on_step_end(self, args, state, control, **kwargs):
        nvtx.range_pop()
        # The step that ended is counted already.                                          #profiler
        if state.global_step == END:                                                       #profiler
            torch.cuda.synchronize()                                                       #profiler
            torch.cuda.profiler.stop()                                                     #profiler


class MarkedTrainer(Trainer):
    def training_step(self, *args, **kwargs):
        with nvtx.range("forward and backward"):
            return super().training_step(*args, **kwargs)

    def compute_loss(self, *args, **kwargs):
        with nvtx.range("forward"):
            return super().compute_loss(*args, **kwargs)


trainer = MarkedTrainer(..., callbacks=[MarkSteps()])
"#;

const LIGHTNING: &str = r#"
import torch
from lightning.pytorch.callbacks import Callback
from torch.cuda import nvtx

# Steps FIRST to END - 1 are recorded; those before warm up.                               #profiler
FIRST, END = FIRST_STEP, END_STEP                                                          #profiler


class MarkSteps(Callback):
    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        if batch_idx == FIRST:                                                             #profiler
            torch.cuda.synchronize()                                                       #profiler
            torch.cuda.profiler.start()                                                    #profiler
        nvtx.range_push(f"step {batch_idx}")

    def on_before_backward(self, trainer, pl_module, loss):
        nvtx.range_push("backward")

    def on_after_backward(self, trainer, pl_module):
        nvtx.range_pop()

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        nvtx.range_pop()
        if batch_idx == END - 1:                                                           #profiler
            torch.cuda.synchronize()                                                       #profiler
            torch.cuda.profiler.stop()                                                     #profiler


# In the LightningModule, around the body of training_step:
#     with nvtx.range("forward"): ...

trainer = Trainer(..., callbacks=[MarkSteps()])
"#;

const MEGATRON: &str = r#"
# Megatron starts and stops the profiler by itself. Add to the training command:            #profiler
#     --profile --profile-step-start FIRST_STEP --profile-step-end END_STEP                 #profiler
#     --profile-ranks 0 1 2 3                                                               #profiler
# with every rank you want to see: the others record nothing and write no report.           #profiler

# In megatron/training/training.py, in train(), around the call of train_step():
torch.cuda.nvtx.range_push(f"iteration {iteration}")
...  # the call of train_step(), as it is
torch.cuda.nvtx.range_pop()
"#;

const DEEPSPEED: &str = r#"
import torch
from torch.cuda import nvtx

# Steps FIRST to END - 1 are recorded; those before warm up.                               #profiler
FIRST, END = FIRST_STEP, END_STEP                                                          #profiler

batches = iter(loader)
for step in range(steps):
    if step == FIRST:                                                                      #profiler
        torch.cuda.synchronize()                                                           #profiler
        torch.cuda.profiler.start()                                                        #profiler
    nvtx.range_push(f"step {step}")
    for _ in range(engine.gradient_accumulation_steps()):
        with nvtx.range("dataloader"):
            batch = next(batches)
        with nvtx.range("forward"):
            loss = engine(batch)
        with nvtx.range("backward"):
            engine.backward(loss)
        with nvtx.range("optimizer"):
            engine.step()
    nvtx.range_pop()
    if step == END - 1:                                                                    #profiler
        torch.cuda.synchronize()                                                           #profiler
        torch.cuda.profiler.stop()                                                         #profiler
"#;

const GC: &str = r#"
import gc


# Pauses of the garbage collector, as ranges.
def mark_collection(phase, info):
    if phase == "start":
        nvtx.range_push(f"gc generation {info['generation']}")
    else:
        nvtx.range_pop()


# Once, before the loop.
gc.callbacks.append(mark_collection)
"#;

#[cfg(test)]
mod tests {
    use super::*;

    fn request(framework: Framework, range: Range) -> Request {
        Request { framework, range, ..Request::default() }
    }

    #[test]
    fn the_profiler_is_started_and_stopped_only_when_it_chooses_the_range() {
        for framework in Framework::ALL {
            let with = of(&request(framework, Range::Profiler)).code;
            let without = of(&request(framework, Range::Delay)).code;
            let profiles = |code: &str| code.contains("profiler.start()") || code.contains("--profile-step-start 10");
            assert!(profiles(&with) && !profiles(&without), "{framework:?}");
            assert!(
                !without.contains("FIRST") && !with.contains("_STEP") && !with.contains("#profiler"),
                "{framework:?}"
            );
            assert!(with.contains("range_push(f\"step {") || with.contains("range_push(f\"iteration {"));
        }
    }

    #[test]
    fn the_chosen_steps_stand_in_the_code_and_in_words() {
        let request = Request { skip: 20, length: 3, ..request(Framework::PyTorch, Range::Profiler) };
        assert!(of(&request).code.contains("FIRST, END = 20, 23\n"));
        assert_eq!(recorded_steps(&request), "steps 20 to 22");
        assert_eq!(recorded_steps(&Request { length: 0, ..request }), "step 20");
    }

    #[test]
    fn no_line_is_longer_than_an_editor_or_ends_in_blanks() {
        for framework in Framework::ALL {
            for range in Range::ALL {
                let request = Request { questions: vec![Question::Gc], ..request(framework, range) };
                let code = of(&request).code;
                assert!(code.lines().all(|line| line.len() <= 88 && line.trim_end() == line), "{framework:?}");
            }
        }
    }

    #[test]
    fn collections_are_marked_when_asked_for() {
        let request = Request { questions: vec![Question::Gc], ..request(Framework::PyTorch, Range::Whole) };
        assert!(of(&request).code.contains("gc.callbacks.append"));
    }
}
