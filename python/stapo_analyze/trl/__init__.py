"""TRL's GRPOTrainer with a token log, and with S2T in its loss; no fork.

    from trl import GRPOConfig, GRPOTrainer
    from stapo_analyze.trl import with_token_log

    trainer = with_token_log(GRPOTrainer, "token_log", every=10, responses=256)(model=…, reward_funcs=…, args=…, …)
    trainer.train()
    $ stapo-analyze token_log --report out/

With `class Trainer(S2TMixin, TokenLogMixin, GRPOTrainer)` the log of a run with S2T.
"""

from .s2t import S2TMixin
from .token_log import TokenLogMixin, with_token_log

__all__ = ["S2TMixin", "TokenLogMixin", "with_token_log"]
