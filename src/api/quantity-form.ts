/**
 * The one way in which Kubernetes writes a quantity: no fraction, the largest suffix that keeps it exact. Writers send
 * `1000m` or `1024Mi`; what is stored and compared is `1` and `1Gi`.
 */
const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const DECIMAL_SUFFIXES = new Map(Object.entries(DECIMAL).map(([suffix, exponent]) => [exponent, suffix]));
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/** Longer texts are not numbers that anyone means, and exact arithmetic on them would be slow. */
const MAX_LENGTH = 64;

/** The canonical form, or the text itself when it is no quantity (validation says so later). */
export function canonicalQuantity(value: string | number): string {
  const text = String(value);
  // Nearly everything that is written already has this form.
  if (/^[1-9]\d{0,2}(?:[munkMGTPE]|[KMGTPE]i)?$/.test(text) || text.length > MAX_LENGTH) return text;
  const parts = /^([+-]?)(\d*)(?:\.(\d*))?([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d{1,3})?$/.exec(text);
  if (!parts) return text;
  const [, sign, whole = "", fraction = "", suffix = ""] = parts;
  if (whole + fraction === "") return text;

  const digits = BigInt(whole + fraction) * (sign === "-" ? -1n : 1n);
  const binary = suffix.endsWith("i") ? BINARY.indexOf(suffix) : -1;
  if (binary > 0) {
    const scaled = digits * 1024n ** BigInt(binary);
    const unit = 10n ** BigInt(fraction.length);
    const exact = scaled % unit === 0n;
    // Below 1024, or with a fraction, binary suffixes have no form.
    if (exact && (abs(scaled / unit) >= 1024n || scaled === 0n)) return binaryForm(scaled / unit);
    return decimalForm(scaled, -fraction.length, "suffix");
  }
  const exponent = /^[eE][+-]?\d/.test(suffix) ? Number(suffix.slice(1)) : (DECIMAL[suffix] ?? 0);
  return decimalForm(digits, exponent - fraction.length, /^[eE][+-]?\d/.test(suffix) ? "exponent" : "suffix");
}

const abs = (value: bigint): bigint => (value < 0n ? -value : value);

function binaryForm(value: bigint): string {
  let amount = value;
  let power = 0;
  while (amount !== 0n && amount % 1024n === 0n && power < BINARY.length - 1) {
    amount /= 1024n;
    power++;
  }
  return `${amount}${BINARY[power]}`;
}

function decimalForm(digits: bigint, scale: number, style: "suffix" | "exponent"): string {
  let amount = digits;
  let exponent = scale;
  if (amount === 0n) return "0";
  while (exponent < -9) {
    // Nothing is finer than nano; what is left over rounds away from zero.
    amount = amount / 10n + (amount % 10n === 0n ? 0n : amount > 0n ? 1n : -1n);
    exponent++;
  }
  while (amount % 10n === 0n) {
    amount /= 10n;
    exponent++;
  }
  while (exponent % 3 !== 0) {
    amount *= 10n;
    exponent--;
  }
  while (exponent > 18) {
    amount *= 1000n;
    exponent -= 3;
  }
  if (style === "exponent") return exponent === 0 ? `${amount}` : `${amount}e${exponent}`;
  return `${amount}${DECIMAL_SUFFIXES.get(exponent) ?? ""}`;
}
