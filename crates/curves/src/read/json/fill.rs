//! Reads what a plan says into a table; nothing else of a document is kept.

use serde::de::{MapAccess, SeqAccess};
use stapo_base::error::Error;

use super::plan::{Action, Plan};
use super::visit::{Any, Nested, Row, SEPARATOR, Taker, accept, pass_over};
use crate::table::{Cell, Table};

/// A table and the plan of what goes into it.
pub(super) struct Fill<'a, 'n> {
    table: &'a mut Table<'n>,
    plan: &'a Plan,
    path: String,
    /// Rows with a response.
    pub of_responses: u32,
    pub refused: Option<Error>,
}

impl<'a, 'n> Fill<'a, 'n> {
    pub fn new(table: &'a mut Table<'n>, plan: &'a Plan) -> Self {
        Self { table, plan, path: String::new(), of_responses: 0, refused: None }
    }
}

impl Nested for Fill<'_, '_> {
    fn path(&mut self) -> &mut String {
        &mut self.path
    }
}

impl<'de> Taker<'de> for &mut Fill<'_, '_> {
    fn scalar<E: serde::de::Error>(self, _: Cell<'_>) -> Result<(), E> {
        Ok(())
    }

    fn map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.each(map, SEPARATOR, |fill, map| map.next_value_seed(Any(fill)))
    }

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        match self.plan.actions.get(&self.path) {
            None => pass_over(list),
            Some(Action::Rows(run)) => {
                while list.next_element_seed(Any(Object { fill: &mut *self, run: run.as_deref() }))?.is_some()
                {
                }
                Ok(())
            }
            Some(Action::Column(name, run)) => {
                let added = self.table.add_column(name, run.as_deref());
                let at = accept(&mut self.refused, added)?;
                for row in 0.. {
                    if list.next_element_seed(Any(Value { fill: &mut *self, at, row }))?.is_none() {
                        break;
                    }
                }
                Ok(())
            }
        }
    }
}

/// A row.
struct Object<'a, 'b, 'n> {
    fill: &'a mut Fill<'b, 'n>,
    run: Option<&'a str>,
}

impl<'de> Taker<'de> for Object<'_, '_, '_> {
    fn scalar<E: serde::de::Error>(self, _: Cell<'_>) -> Result<(), E> {
        Ok(())
    }

    fn map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let Self { fill, run } = self;
        let started = fill.table.start_row();
        accept(&mut fill.refused, started)?;
        if let (Some(run), Some(row)) = (run, fill.table.rows.checked_sub(1)) {
            let set = fill.table.set_run(row as usize, run);
            accept(&mut fill.refused, set)?;
        }
        let mut row = Row::new(fill.table);
        let result = row.map(map);
        let (of_responses, refused) = (row.of_responses, row.refused.take());
        fill.refused = refused;
        fill.of_responses += u32::from(of_responses);
        if of_responses || result.is_err() {
            fill.table.drop_row();
        }
        result
    }
}

/// A value of a column.
struct Value<'a, 'b, 'n> {
    fill: &'a mut Fill<'b, 'n>,
    at: usize,
    row: u32,
}

impl<'de> Taker<'de> for Value<'_, '_, '_> {
    fn scalar<E: serde::de::Error>(self, cell: Cell<'_>) -> Result<(), E> {
        let Self { fill, at, row } = self;
        while fill.table.rows <= row {
            let started = fill.table.start_row();
            accept(&mut fill.refused, started)?;
        }
        let put = fill.table.put_at(at, row, cell);
        accept(&mut fill.refused, put)
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?.is_some() {}
        Ok(())
    }
}
