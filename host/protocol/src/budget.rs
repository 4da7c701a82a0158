//! Reads a message into no more memory than it may take.
//!
//! A list in the stream says how long it is, and each element may be much larger in memory than there. So a
//! deserializer stands around postcard's that pays for every element and every text from a budget, and
//! stops when that is used up.

use std::cell::Cell;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

use crate::frame::Malformed;

/// What so many elements of a list take: a vector begins with room for four, doubles, and while it grows
/// what it was may be there beside what it becomes.
pub(crate) const fn of_elements<T>(count: u64) -> u64 {
    (4 * size_of::<T>() as u64).saturating_mul(count)
}

/// What a text or bytes of this length take, with what an allocator needs for a small one.
pub(crate) const fn of_text(length: u64) -> u64 {
    length.saturating_add(32)
}

/// Reads a message that may take so much memory; what is left over makes it malformed.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8], memory: u64) -> Result<T, Malformed> {
    let budget = Budget {
        left: Cell::new(memory),
        spent: Cell::new(false),
    };
    let mut deserializer = postcard::Deserializer::from_bytes(bytes);
    let read = T::deserialize(budget.around(&mut deserializer));
    if budget.spent.get() {
        return Err(Malformed::TooMuchMemory(memory));
    }
    let message = read.map_err(|error| Malformed::Message(error.to_string()))?;
    match deserializer.finalize() {
        Ok([]) => Ok(message),
        Ok(rest) => {
            let length = rest.len();
            Err(Malformed::Message(format!("{length} bytes after its end")))
        }
        Err(error) => Err(Malformed::Message(error.to_string())),
    }
}

struct Budget {
    left: Cell<u64>,
    /// Something cost more than was left.
    spent: Cell<bool>,
}

impl Budget {
    const fn around<T>(&self, inner: T) -> Paid<'_, T> {
        Paid {
            inner,
            budget: self,
            list: false,
        }
    }

    fn pay<E: serde::de::Error>(&self, cost: u64) -> Result<(), E> {
        match self.left.get().checked_sub(cost) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                self.spent.set(true);
                Err(E::custom("it takes too much memory"))
            }
        }
    }
}

/// A part of serde's machinery around another, which pays.
struct Paid<'b, T> {
    inner: T,
    budget: &'b Budget,
    /// Whether its elements are on the heap: those of a structure are where it is.
    list: bool,
}

impl<'b, T> Paid<'b, T> {
    const fn listing(mut self) -> Self {
        self.list = true;
        self
    }
}

macro_rules! read_around {
    ($($method:ident($($argument:ident: $kind:ty),*);)*) => {
        $(fn $method<V: Visitor<'de>>(
            self,
            $($argument: $kind,)*
            visitor: V,
        ) -> Result<V::Value, D::Error> {
            self.inner.$method($($argument,)* self.budget.around(visitor))
        })*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Paid<'_, D> {
    type Error = D::Error;

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner
            .deserialize_seq(self.budget.around(visitor).listing())
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner
            .deserialize_map(self.budget.around(visitor).listing())
    }

    read_around! {
        deserialize_any();
        deserialize_bool();
        deserialize_i8();
        deserialize_i16();
        deserialize_i32();
        deserialize_i64();
        deserialize_i128();
        deserialize_u8();
        deserialize_u16();
        deserialize_u32();
        deserialize_u64();
        deserialize_u128();
        deserialize_f32();
        deserialize_f64();
        deserialize_char();
        deserialize_str();
        deserialize_string();
        deserialize_bytes();
        deserialize_byte_buf();
        deserialize_option();
        deserialize_unit();
        deserialize_unit_struct(name: &'static str);
        deserialize_newtype_struct(name: &'static str);
        deserialize_tuple(length: usize);
        deserialize_tuple_struct(name: &'static str, length: usize);
        deserialize_struct(name: &'static str, fields: &'static [&'static str]);
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
        deserialize_identifier();
        deserialize_ignored_any();
    }
}

macro_rules! visit_as_it_is {
    ($($method:ident($kind:ty);)*) => {
        $(fn $method<E: serde::de::Error>(self, value: $kind) -> Result<V::Value, E> {
            self.inner.$method(value)
        })*
    };
}

macro_rules! visit_paid {
    ($($method:ident($kind:ty);)*) => {
        $(fn $method<E: serde::de::Error>(self, value: $kind) -> Result<V::Value, E> {
            self.budget.pay(of_text(value.len() as u64))?;
            self.inner.$method(value)
        })*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Paid<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.expecting(f)
    }

    visit_as_it_is! {
        visit_bool(bool);
        visit_i8(i8);
        visit_i16(i16);
        visit_i32(i32);
        visit_i64(i64);
        visit_i128(i128);
        visit_u8(u8);
        visit_u16(u16);
        visit_u32(u32);
        visit_u64(u64);
        visit_u128(u128);
        visit_f32(f32);
        visit_f64(f64);
        visit_char(char);
    }

    visit_paid! {
        visit_str(&str);
        visit_borrowed_str(&'de str);
        visit_string(String);
        visit_bytes(&[u8]);
        visit_borrowed_bytes(&'de [u8]);
        visit_byte_buf(Vec<u8>);
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.inner.visit_some(self.budget.around(inner))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.inner.visit_newtype_struct(self.budget.around(inner))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        let Self { budget, list, .. } = self;
        self.inner.visit_seq(Paid {
            inner,
            budget,
            list,
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        let Self { budget, list, .. } = self;
        self.inner.visit_map(Paid {
            inner,
            budget,
            list,
        })
    }

    fn visit_enum<A: EnumAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        self.inner.visit_enum(self.budget.around(inner))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Paid<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.inner.deserialize(self.budget.around(inner))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Paid<'_, A> {
    type Error = A::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, A::Error> {
        let element = self.inner.next_element_seed(self.budget.around(seed))?;
        if self.list && element.is_some() {
            self.budget.pay(of_elements::<T::Value>(1))?;
        }
        Ok(element)
    }

    /// None is told, so that no memory is taken for elements that have not been paid.
    fn size_hint(&self) -> Option<usize> {
        None
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Paid<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let key = self.inner.next_key_seed(self.budget.around(seed))?;
        if self.list && key.is_some() {
            self.budget.pay(of_elements::<K::Value>(1))?;
        }
        Ok(key)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        if self.list {
            self.budget.pay(of_elements::<S::Value>(1))?;
        }
        self.inner.next_value_seed(self.budget.around(seed))
    }
}

impl<'de, 'b, A: EnumAccess<'de>> EnumAccess<'de> for Paid<'b, A> {
    type Error = A::Error;
    type Variant = Paid<'b, A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        let (value, variant) = self.inner.variant_seed(seed)?;
        Ok((value, self.budget.around(variant)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Paid<'_, A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.inner.newtype_variant_seed(self.budget.around(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.inner
            .tuple_variant(length, self.budget.around(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.inner
            .struct_variant(fields, self.budget.around(visitor))
    }
}
