/**
 * Characters that differ only in case, by Unicode's simple case folding, as in Go: `k`, `K` and the Kelvin sign are one
 * group, and `ß` is not `SS`.
 */

/** The last cased character is in the Adlam script. */
const LAST_CASED = 0x1e943;
/** The dotless i folds to nothing, although its capital is `I`. */
const DOTLESS_I = 0x131;

let groups: ReadonlyMap<number, readonly number[]> | undefined;

/** The other characters of the group. */
export function foldsOf(code: number): readonly number[] {
  groups ??= readGroups();
  return groups.get(code) ?? [];
}

/** A scan over all characters, about 20 ms, when a pattern first ignores case. */
function readGroups(): ReadonlyMap<number, readonly number[]> {
  const byKey = new Map<number, number[]>();
  for (let code = 0; code <= LAST_CASED; code++) {
    const key = keyOf(code);
    const group = key === code ? byKey.get(key) : undefined;
    if (group) group.push(code);
    else if (key !== code) byKey.set(key, [...(byKey.get(key) ?? (key < code ? [key] : [])), code]);
  }
  const found = new Map<number, readonly number[]>();
  for (const group of byKey.values())
    for (const code of group)
      found.set(
        code,
        group.filter((other) => other !== code),
      );
  return found;
}

function keyOf(code: number): number {
  if (code === DOTLESS_I) return code;
  return caseOf(caseOf(code, "toUpperCase"), "toLowerCase");
}

/** Itself, where the other case has several characters. */
function caseOf(code: number, change: "toUpperCase" | "toLowerCase"): number {
  const changed = String.fromCodePoint(code)[change]();
  const other = changed.codePointAt(0) ?? code;
  return changed.length === (other > 0xffff ? 2 : 1) ? other : code;
}
