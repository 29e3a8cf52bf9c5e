/** Properties of label and field selectors, compared with trivial reference implementations. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseFieldSelector } from "./apply/fields.ts";
import {
  formatLabelSelector,
  labelSelectorOf,
  matchesLabels,
  parseLabelSelector,
  type LabelRequirement,
  type LabelSelector,
} from "./labels.ts";

const KEYS = ["app", "tier", "example.com/zone", "in", "notin"];
const VALUES = ["web", "db", "", "7", "08", "in", "a.b_c-D"];
const key = fc.constantFrom(...KEYS);
const value = fc.constantFrom(...VALUES);
const values = fc.uniqueArray(value, { minLength: 1, maxLength: 4 });
const labels = fc.dictionary(key, value, { noNullPrototype: true });

const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
  fc.record({ key, operator: fc.constantFrom("=" as const, "!=" as const), values: value.map((one) => [one]) }),
  fc.record({ key, operator: fc.constantFrom("in" as const, "notin" as const), values }),
  fc.record({ key, operator: fc.constantFrom("exists" as const, "!exists" as const), values: fc.constant([]) }),
  fc.record({
    key,
    operator: fc.constantFrom(">" as const, "<" as const),
    values: fc.nat(20).map((number) => [String(number)]),
  }),
);
const selector: fc.Arbitrary<LabelSelector> = fc
  .array(requirement, { maxLength: 4 })
  .map((requirements) => ({ requirements }));

/** The meaning of each operator. */
function holds({ key: wanted, operator, values: listed }: LabelRequirement, given: Record<string, string>): boolean {
  const found = Object.entries(given).find(([name]) => name === wanted)?.[1];
  const isListed = found !== undefined && listed.some((one) => one === found);
  const [limit = ""] = listed;
  const isNumber = found !== undefined && /^[0-9]+$/.test(found);
  return {
    "=": isListed,
    in: isListed,
    "!=": !isListed,
    notin: !isListed,
    exists: found !== undefined,
    "!exists": found === undefined,
    ">": isNumber && Number(found) > Number(limit),
    "<": isNumber && Number(found) < Number(limit),
  }[operator];
}

describe("label selectors", () => {
  test("match when each of their requirements matches", () => {
    fc.assert(
      fc.property(selector, labels, (made, given) => {
        expect(matchesLabels(made, given)).toBe(made.requirements.every((one) => holds(one, given)));
      }),
      { numRuns: 500 },
    );
  });

  test("round-trip through their text form", () => {
    fc.assert(
      fc.property(selector, labels, (made, given) => {
        const text = formatLabelSelector(made);
        const read = parseLabelSelector(text);

        expect(matchesLabels(read, given)).toBe(matchesLabels(made, given));
        expect(formatLabelSelector(read)).toBe(text);
        expect(read.requirements).toHaveLength(made.requirements.length);
      }),
      { numRuns: 500 },
    );
  });

  test("do not depend on the order of requirements, of values, or on spaces", () => {
    fc.assert(
      fc.property(selector, labels, fc.constantFrom("", " ", "\t", "\n  "), (made, given, space) => {
        const turned = made.requirements.toReversed().map((one) => ({ ...one, values: one.values.toReversed() }));
        const text = formatLabelSelector(made).replaceAll(/[(),=]/g, (symbol) => `${space}${symbol}${space}`);

        expect(matchesLabels({ requirements: turned }, given)).toBe(matchesLabels(made, given));
        // A space inside a two-character operator would split it.
        const isWhole = !/[!=]\s*=/.test(text);
        expect(isWhole ? matchesLabels(parseLabelSelector(text), given) : matchesLabels(made, given)).toBe(
          matchesLabels(made, given),
        );
      }),
    );
  });

  test("match the opposite when the operator of a requirement is inverted", () => {
    const OPPOSITE = {
      "=": "!=",
      "!=": "=",
      in: "notin",
      notin: "in",
      exists: "!exists",
      "!exists": "exists",
    } as const;
    fc.assert(
      fc.property(requirement, labels, (one, given) => {
        if (one.operator === ">" || one.operator === "<") return;
        const opposite: LabelRequirement = { ...one, operator: OPPOSITE[one.operator] };

        expect(matchesLabels({ requirements: [opposite] }, given)).toBe(!matchesLabels({ requirements: [one] }, given));
      }),
    );
  });

  test("label selectors with more requirements match no more objects", () => {
    fc.assert(
      fc.property(selector, requirement, labels, (made, more, given) => {
        const both = { requirements: [...made.requirements, more] };

        expect(matchesLabels(both, given)).toBe(
          matchesLabels(made, given) && matchesLabels({ requirements: [more] }, given),
        );
      }),
    );
  });

  test("label selectors that list every value match all objects with the key, and a single value is equivalent to equality", () => {
    fc.assert(
      fc.property(key, value, labels, (name, one, given) => {
        expect(matchesLabels({ requirements: [{ key: name, operator: "in", values: VALUES }] }, given)).toBe(
          Object.hasOwn(given, name),
        );
        expect(matchesLabels(parseLabelSelector(`${name} in (${one})`), given)).toBe(
          matchesLabels(parseLabelSelector(`${name}=${one}`), given),
        );
        expect(matchesLabels(parseLabelSelector(`${name} notin (${one})`), given)).toBe(
          matchesLabels(parseLabelSelector(`${name}!=${one}`), given),
        );
      }),
    );
  });

  test("label selectors as objects are equivalent to their text form", () => {
    const OPERATORS = { in: "In", notin: "NotIn", exists: "Exists", "!exists": "DoesNotExist" } as const;
    const expression = requirement.filter(({ operator }) => operator in OPERATORS);
    fc.assert(
      fc.property(labels, fc.array(expression, { maxLength: 3 }), labels, (matchLabels, expressions, given) => {
        const object = {
          matchLabels,
          matchExpressions: expressions.map((one) => ({
            ...one,
            operator: OPERATORS[one.operator as keyof typeof OPERATORS],
          })),
        };
        const made = labelSelectorOf(object);

        expect(matchesLabels(parseLabelSelector(formatLabelSelector(object)), given)).toBe(matchesLabels(made, given));
        expect(matchesLabels(made, given)).toBe(
          Object.entries(matchLabels).every(([name, one]) => given[name] === one) &&
            expressions.every((one) => holds(one, given)),
        );
      }),
    );
  });

  test("parse any input or reject it as a bad request", () => {
    const word = fc.oneof(
      key,
      value,
      fc.constantFrom("=", "==", "!=", "!", "(", ")", ",", "<", ">", " in ", " notin ", "-", "\u00a0"),
      fc.string({ maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 10 }), labels, (words, given) => {
        expect(outcomeOf(() => matchesLabels(parseLabelSelector(words.join("")), given))).toBeOneOf([
          true,
          false,
          "BadRequest",
        ]);
      }),
      { numRuns: 1000 },
    );
  });
});

function outcomeOf(attempt: () => boolean): unknown {
  try {
    return attempt();
  } catch (error) {
    return (error as { code?: string }).code ?? error;
  }
}

describe("field selectors", () => {
  const path = fc.constantFrom("metadata.name", "status.phase", "spec.nodeName");
  const fieldRequirement = fc.record({
    path,
    op: fc.constantFrom("=" as const, "!=" as const),
    value: fc.string({ unit: fc.constantFrom("a", "B", "\\", ",", "=", "!", " ", "é", "\n") }),
  });
  const escape = (text: string): string => text.replaceAll(/[\\,=]/g, "\\$&");

  test("parse any escaped values unchanged", () => {
    fc.assert(
      fc.property(fc.array(fieldRequirement, { maxLength: 4 }), fc.constantFrom("=", "=="), (requirements, equals) => {
        const text = requirements
          .map(({ path: name, op, value: wanted }) => `${name}${op === "=" ? equals : op}${escape(wanted)}`)
          .join(",");

        expect(parseFieldSelector(text)).toEqual(expect.arrayContaining(requirements));
        expect(parseFieldSelector(text)).toHaveLength(requirements.length);
      }),
      { numRuns: 500 },
    );
  });

  test("ignore empty terms", () => {
    fc.assert(
      fc.property(fc.array(fieldRequirement, { maxLength: 3 }), fc.nat(3), (requirements, empty) => {
        const terms = requirements.map(({ path: name, op, value: wanted }) => `${name}${op}${escape(wanted)}`);

        expect(parseFieldSelector([...terms, ...Array.from({ length: empty }, () => "")].join(","))).toEqual(
          parseFieldSelector(terms.join(",")),
        );
      }),
    );
  });

  test("parse any input or reject it as a bad request", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", ".", "\\", ",", "=", "!", "é") }), (text) => {
        expect(outcomeOf(() => Array.isArray(parseFieldSelector(text)))).toBeOneOf([true, "BadRequest"]);
      }),
      { numRuns: 1000 },
    );
  });
});
