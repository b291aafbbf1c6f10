//! `#[derive(Accumulate)]`: merges a struct field by field.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::{Data, DeriveInput, Index, Member, parse_macro_input};

/// Merges and settles each field.
#[proc_macro_derive(Accumulate)]
pub fn accumulate(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

fn expand(input: &DeriveInput) -> syn::Result<Tokens> {
    let Data::Struct(data) = &input.data else {
        return Err(syn::Error::new_spanned(&input.ident, "only a struct accumulates field by field"));
    };
    let members = data.fields.iter().enumerate().map(|(i, field)| match &field.ident {
        Some(name) => Member::Named(name.clone()),
        None => Member::Unnamed(Index::from(i)),
    });
    let members: Vec<Member> = members.collect();
    let types = data.fields.iter().map(|field| &field.ty);
    let name = &input.ident;
    let (impl_generics, type_generics, conditions) = input.generics.split_for_impl();
    let given = conditions.map(|conditions| &conditions.predicates).into_iter();
    let parameters = input.generics.type_params().map(|parameter| &parameter.ident);
    let bounds = quote! {
        where
            #(#parameters: ::stapo_accumulate::Accumulate,)*
            #(#given,)*
    };
    Ok(quote! {
        impl #impl_generics ::stapo_accumulate::Accumulate for #name #type_generics #bounds {
            fn merge(&mut self, other: Self) {
                #(<#types as ::stapo_accumulate::Accumulate>::merge(&mut self.#members, other.#members);)*
            }

            fn settle(&mut self) {
                #(::stapo_accumulate::Accumulate::settle(&mut self.#members);)*
            }
        }
    })
}
