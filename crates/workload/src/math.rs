//! Logarithm and exponential from additions and multiplications alone.
//!
//! Those of the standard library come from the system and may differ in the last bit from one machine to the next; a
//! history must not.

use std::f64::consts::{LN_2, LOG2_E, SQRT_2};

/// 1, 1/3, 1/5, …
const ODD: [f64; 10] = {
    let mut terms = [0.0; 10];
    let mut k = 0;
    while k < terms.len() {
        terms[k] = 1.0 / (2 * k + 1) as f64;
        k += 1;
    }
    terms
};

/// 1/0!, 1/1!, 1/2!, …
const FACTORIALS: [f64; 14] = {
    let mut terms = [1.0; 14];
    let mut k = 1;
    while k < terms.len() {
        terms[k] = terms[k - 1] / k as f64;
        k += 1;
    }
    terms
};

/// The natural logarithm of a number that is not negative, to about 10⁻¹⁴.
pub(crate) fn ln(x: f64) -> f64 {
    debug_assert!(x >= 0.0, "the logarithm of {x}");
    if x < f64::MIN_POSITIVE {
        return f64::NEG_INFINITY;
    }
    if x == f64::INFINITY {
        return x;
    }
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i32 - 1023;
    let mut mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    if mantissa > SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    // ln m = 2 artanh((m - 1) / (m + 1)).
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    f64::from(exponent) * LN_2 + 2.0 * s * polynomial(&ODD, s * s)
}

/// The exponential, to about 10⁻¹³ of its value.
pub(crate) fn exp(x: f64) -> f64 {
    if x > 709.0 {
        return f64::INFINITY;
    }
    if x < -708.0 {
        return 0.0;
    }
    // Rounded by hand: `f64::round` is a call where the processor is not known to have it.
    let halvings = (x * LOG2_E + 0.5f64.copysign(x)) as i64;
    let rest = x - halvings as f64 * LN_2;
    polynomial(&FACTORIALS, rest) * f64::from_bits(((halvings + 1023) as u64) << 52)
}

/// The polynomial with these coefficients, lowest first; even and odd powers apart, so that they are computed side by side.
#[inline]
fn polynomial<const N: usize>(terms: &[f64; N], x: f64) -> f64 {
    let square = x * x;
    let sums =
        terms.rchunks_exact(2).fold((0.0, 0.0), |(even, odd), pair| (even * square + pair[0], odd * square + pair[1]));
    sums.0 + x * sums.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_agree_with_the_system() {
        for i in 1..1900 {
            let x = f64::from(i) * 0.37;
            assert!((ln(x) - x.ln()).abs() <= 2e-14 * x.ln().abs().max(1.0), "ln {x}");
            assert!((ln(1.0 / x) + x.ln()).abs() <= 2e-14 * x.ln().abs().max(1.0), "ln 1/{x}");
            for x in [x, -x] {
                assert!((exp(x) - x.exp()).abs() <= 1e-12 * x.exp(), "exp {x}");
            }
        }
        assert_eq!(ln(0.0), f64::NEG_INFINITY);
        assert_eq!((exp(f64::INFINITY), exp(f64::NEG_INFINITY)), (f64::INFINITY, 0.0));
    }
}
