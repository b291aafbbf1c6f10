//! What got worse for good: `changes`. The others tell of falls and rises that are no damage: a part that came into
//! the reward (`came_in`), a reward that still pays (`paid`), a cost that was worth it (`price`), prompts that became
//! harder (`same_prompts`), parts that hardly weigh (`trifles`).

pub mod came_in;
pub mod changes;
pub mod paid;
pub mod price;
pub mod same_prompts;
pub mod trifles;
