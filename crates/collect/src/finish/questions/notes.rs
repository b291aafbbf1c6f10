//! Which questions stay open, and what to log for them.

use crate::plan::Questions;
use stapo_batch::columns::Column;
use stapo_result::Answers;
use stapo_result::questions::NotAnswered;

/// The parts that are absent, with what they need.
pub fn not_answered(answers: &Answers, asked: &Questions, knows_right: bool) -> Vec<NotAnswered> {
    let mut open = Vec::new();
    let mut say = |absent: bool, part: &str, needs: &str| {
        if absent {
            open.push(NotAnswered { part: part.into(), needs: needs.into() });
        }
    };
    let run = answers.offpolicy.as_ref().map(|ledger| &ledger.run);
    say(
        run.is_none_or(|run| run.engine.is_none()),
        "offpolicy.run.engine",
        "log `logprob_rollout`: the sampler's own log-probability of each token",
    );
    say(
        run.is_none_or(|run| run.update.is_none()),
        "offpolicy.run.update",
        "log `logprob_new`: the log-probability of each token at the loss",
    );
    say(
        answers.offpolicy.as_ref().is_none_or(|ledger| ledger.lags.is_empty()),
        "offpolicy.lags",
        "log `logprob_rollout` and `policy_version`: the step whose weights the sampler had",
    );
    say(answers.clipping.is_none(), "clipping", "log `logprob_new`: clipping by side needs the ratio");
    say(
        answers.kl_reference.is_none(),
        "kl_reference",
        "log `logprob_ref`: the reference model's log-probability of each token",
    );
    let cuts_need = match asked.truncated {
        Some(Column::FinishReason) => {
            "log `truncated` of each response: what `finish_reason` says is neither a length nor a stop"
        }
        _ => "log `truncated` or `finish_reason` of each response",
    };
    say(answers.truncated.is_none(), "truncated", cuts_need);
    say(answers.reward_parts.is_empty(), "reward_parts", "log the parts of the reward as `reward/<name>`");
    say(answers.repetition.is_none(), "repetition", "log `token_ids`");
    let groups_need = if !asked.groups {
        "log `group_id`: the prompt that a response belongs to"
    } else if !knows_right {
        "say what is right with --pass, such as --pass \"reward>0.5\": neither the reward \
         nor a part whose name says so (reward/answer) takes just two values"
    } else {
        "log `reward`"
    };
    say(answers.groups.is_none(), "groups", groups_need);
    open
}
