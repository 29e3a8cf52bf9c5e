/** Properties of the basic values: quantities, names, hashes, conditions, percentages. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withCondition, type Condition, type NextCondition } from "./conditions.ts";
import { fnv1a32, fnv32, safeEncode } from "./hash.ts";
import { scaledValue } from "./int-or-string.ts";
import {
  dataKeyProblems,
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  labelValueProblems,
} from "./names.ts";
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityMilliValue,
  quantityValue,
  scaledQuantity,
  subtractQuantities,
  tryParseQuantity,
} from "./quantity.ts";

describe("quantities", () => {
  const SUFFIXES: Record<string, { base: bigint; power: number }> = {
    n: { base: 10n, power: -9 },
    u: { base: 10n, power: -6 },
    m: { base: 10n, power: -3 },
    "": { base: 10n, power: 0 },
    k: { base: 10n, power: 3 },
    M: { base: 10n, power: 6 },
    E: { base: 10n, power: 18 },
    Ki: { base: 2n, power: 10 },
    Gi: { base: 2n, power: 30 },
    e3: { base: 10n, power: 3 },
    "E-2": { base: 10n, power: -2 },
  };
  /** Integer billionths: the finest precision, so everything here is exact. */
  const SCALE = 10n ** 9n;
  const amount = fc
    .record({
      sign: fc.constantFrom("", "-", "+"),
      whole: fc.nat(99_999),
      fraction: fc.nat(999),
      suffix: fc.constantFrom(...Object.keys(SUFFIXES)),
    })
    .filter(({ suffix }) => suffix !== "n" && suffix !== "u")
    .map(({ sign, whole, fraction, suffix }) => {
      const { base, power } = SUFFIXES[suffix] ?? { base: 1n, power: 0 };
      const thousandths = BigInt(whole) * 1000n + BigInt(fraction);
      const scaled =
        power >= 0
          ? (thousandths * SCALE * base ** BigInt(power)) / 1000n
          : (thousandths * SCALE) / 1000n / base ** BigInt(-power);
      return {
        text: `${sign}${whole}.${String(fraction).padStart(3, "0")}${suffix}`,
        exact: sign === "-" ? -scaled : scaled,
      };
    });

  test("are ordered and added like the exact numbers", () => {
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        const [left, right] = [parseQuantity(a.text), parseQuantity(b.text)];

        expect(scaledQuantity(left, -9)).toBe(a.exact);
        expect(compareQuantities(left, right)).toBe(a.exact < b.exact ? -1 : a.exact > b.exact ? 1 : 0);
        expect(scaledQuantity(addQuantities(left, right), -9)).toBe(a.exact + b.exact);
        expect(compareQuantities(subtractQuantities(addQuantities(left, right), right), left)).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  test("have one canonical form, without a fraction, that parses to the same amount", () => {
    fc.assert(
      fc.property(amount, ({ text }) => {
        const canonical = formatQuantity(parseQuantity(text));

        expect(canonical).toMatch(/^-?\d+([numkMGTPE]|[KMGTPE]i|e-?\d+)?$/);
        expect(formatQuantity(parseQuantity(canonical))).toBe(canonical);
        expect(compareQuantities(parseQuantity(canonical), parseQuantity(text))).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  test("are rounded away from zero to whole units and to thousandths", () => {
    const away = (exact: bigint, unit: bigint): bigint =>
      exact / unit + (exact % unit === 0n ? 0n : exact > 0n ? 1n : -1n);
    fc.assert(
      fc.property(amount, ({ text, exact }) => {
        expect(quantityValue(parseQuantity(text))).toBe(away(exact, SCALE));
        expect(quantityMilliValue(parseQuantity(text))).toBe(away(exact, SCALE / 1000n));
      }),
    );
  });

  test("quantities of any text are parsed or rejected, identically by both parsers", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("1", "0", "9", ".", "-", "+", "e", "E", "m", "K", "i", "n", " ") }),
        (text) => {
          const quantity = tryParseQuantity(text);

          expect(outcomeOf(() => compareQuantities(parseQuantity(text), quantity ?? parseQuantity("0")))).toBe(
            quantity ? 0 : "BadRequest",
          );
        },
      ),
      { numRuns: 1000 },
    );
  });
});

function outcomeOf(attempt: () => unknown): unknown {
  try {
    return attempt();
  } catch (error) {
    return (error as { code?: string }).code ?? error;
  }
}

describe("names", () => {
  const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
  const PART = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
  const bytes = (text: string): number => new TextEncoder().encode(text).length;
  const matches = (pattern: string, text: string, limit: number): boolean =>
    new RegExp(`^(?:${pattern})$`).test(text) && bytes(text) <= limit;
  const rules: Record<string, [check: (text: string) => readonly string[], isGood: (text: string) => boolean]> = {
    "DNS subdomains": [dnsSubdomainProblems, (text) => matches(`${LABEL}(\\.${LABEL})*`, text, 253)],
    "DNS labels": [dnsLabelProblems, (text) => matches(LABEL, text, 63)],
    "labels that start with a letter": [
      dns1035LabelProblems,
      (text) => matches("[a-z]([-a-z0-9]*[a-z0-9])?", text, 63),
    ],
    "label values": [labelValueProblems, (text) => matches(`(${PART})?`, text, 63)],
    "data keys": [
      dataKeyProblems,
      (text) => matches("[-._a-zA-Z0-9]+", text, 253) && text !== "." && !text.startsWith(".."),
    ],
    "label keys": [
      labelKeyProblems,
      (text) => {
        const [name = "", prefix, ...more] = text.split("/").toReversed();
        return (
          more.length === 0 &&
          matches(PART, name, 63) &&
          (prefix === undefined || matches(`${LABEL}(\\.${LABEL})*`, prefix, 253))
        );
      },
    ],
  };
  const piece = fc.constantFrom(
    "a",
    "Z",
    "0",
    "-",
    ".",
    "_",
    "/",
    "é",
    " ",
    "\n",
    "ab-c",
    "a.b",
    "x".repeat(62),
    "y".repeat(250),
  );
  for (const [what, [check, isGood]] of Object.entries(rules)) {
    test(`${what} match the published expression and length`, () => {
      fc.assert(
        fc.property(fc.array(piece, { maxLength: 5 }), (pieces) => {
          const text = pieces.join("");

          expect(check(text).length === 0).toBe(isGood(text));
          // Valid keys are cached, which must not change the result.
          expect(check(text)).toEqual(check(text));
        }),
        { numRuns: 500 },
      );
    });
  }
});

describe("hashes", () => {
  const reference = (bytes: Uint8Array, mixFirst: boolean): number => {
    let hash = 0x811c9dc5n;
    for (const byte of bytes)
      hash = mixFirst
        ? ((hash ^ BigInt(byte)) * 0x01000193n) % 2n ** 32n
        : ((hash * 0x01000193n) % 2n ** 32n) ^ BigInt(byte);
    return Number(hash);
  };

  test("match arithmetic with unlimited integers", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        expect(fnv1a32(bytes)).toBe(reference(bytes, true));
        expect(fnv32(bytes)).toBe(reference(bytes, false));
      }),
    );
  });

  test("encode to valid names", () => {
    fc.assert(
      fc.property(fc.nat(2 ** 32 - 1), (hash) => {
        const encoded = safeEncode(String(hash));

        expect(encoded).toHaveLength(String(hash).length);
        expect(dnsLabelProblems(`web-${encoded}`)).toEqual([]);
        expect(encoded).not.toMatch(/[aeiou013]/);
      }),
    );
  });
});

describe("conditions", () => {
  const type = fc.constantFrom("Ready", "Available", "Degraded");
  const next: fc.Arbitrary<NextCondition> = fc.record({
    type,
    status: fc.constantFrom("True" as const, "False" as const, "Unknown" as const),
    reason: fc.constantFrom("A", "B"),
    message: fc.constantFrom("", "m"),
    observedGeneration: fc.option(fc.nat(3), { nil: undefined }),
  });

  test("occur once per type, have the last value, and date from the last status change", () => {
    fc.assert(
      fc.property(fc.array(next, { maxLength: 8 }), (changes) => {
        let conditions: readonly Condition[] = [];
        const statuses = new Map<string, { status: string; since: string }>();
        for (const [index, change] of changes.entries()) {
          const now = `t${index}`;
          conditions = withCondition(conditions, change, now);
          if (statuses.get(change.type)?.status !== change.status)
            statuses.set(change.type, { status: change.status, since: now });
        }

        expect(conditions.map((one) => one.type)).toEqual([...statuses.keys()]);
        for (const one of conditions) {
          const { observedGeneration, ...last } = changes.findLast(
            (change) => change.type === one.type,
          ) as NextCondition;
          expect(one).toEqual({ ...last, observedGeneration, lastTransitionTime: statuses.get(one.type)?.since });
        }
      }),
      { numRuns: 300 },
    );
  });

  test("conditions that are unchanged return the same list", () => {
    fc.assert(
      fc.property(fc.array(next, { maxLength: 3 }), next, (changes, last) => {
        const conditions = [...changes, last].reduce<readonly Condition[]>(
          (list, change) => withCondition(list, change, "before"),
          [],
        );

        expect(withCondition(conditions, last, "after")).toBe(conditions);
      }),
    );
  });
});

test("a percentage is between its two roundings, which are at most one apart", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100 }), fc.nat(100_000), (percent, total) => {
      const [down, up] = [
        scaledValue(`${percent}%`, total, { roundUp: false }),
        scaledValue(`${percent}%`, total, { roundUp: true }),
      ];

      expect(down * 100).toBeLessThanOrEqual(percent * total);
      expect(up * 100).toBeGreaterThanOrEqual(percent * total);
      expect(up - down).toBeLessThanOrEqual(1);
    }),
  );
});
