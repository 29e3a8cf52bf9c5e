/**
 * Replays expressions whose errors, types, costs and results were recorded from the real implementation (cel-go 0.26
 * with the environment of Kubernetes 1.36).
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Json } from "@flotilla/base";
import type { Schema } from "@flotilla/apimachinery";
import { compileCel } from "./compile.ts";
import { goQuote } from "../values/go-text.ts";
import { celValueOf } from "./json-values.ts";
import { declareSchemaType } from "../kubernetes/schema-type.ts";
import { type CelType, formatType } from "../types/types.ts";
import {
  CelDouble,
  CelError,
  CelList,
  CelMap,
  CelOptional,
  CelUint,
  type CelValue,
  typeNameOf,
} from "../values/values.ts";

interface Recorded {
  schema: Schema;
  objects: Json[];
  cases: {
    expression: string;
    errors?: string;
    type?: string;
    cost?: [number, number];
    results?: { value?: string; error?: string; cost: number }[];
  }[];
}

const recorded = JSON.parse(readFileSync(new URL("../testdata/recorded.json", import.meta.url), "utf8")) as Recorded[];

/** A value in the format of the recording; undefined for values of which it contains only the type. */
function show(value: CelValue): string | undefined {
  if (value === null) return "null";
  if (typeof value === "string") return goQuote(value);
  if (typeof value !== "object") return String(value);
  if (value instanceof CelMap)
    return `{${value
      .keys()
      .map((key) => `${show(key)}=${show(value.find(key) ?? null)}`)
      .toSorted()
      .join(",")}}`;
  if (value instanceof CelList)
    return `[${Array.from({ length: value.size }, (_, index) => show(value.at(index))).join(",")}]`;
  if (value instanceof CelOptional) return value.value === undefined ? "none" : `opt(${show(value.value)})`;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (value instanceof CelDouble)
    return Number.isFinite(value.value) ? String(value.value) : value.value > 0 ? "+Inf" : "-Inf";
  return value instanceof CelUint ? String(value.value) : undefined;
}

for (const { schema, objects, cases } of recorded) {
  const type = declareSchemaType(schema) as CelType;
  for (const { expression, errors, type: resultType, cost = [0, 0], results = [] } of cases) {
    test(`evaluates ${JSON.stringify(expression)} as Kubernetes does`, () => {
      const compiled = compileCel(expression, { variables: { self: type, oldSelf: type } });

      expect(compiled.errors?.replace("compilation failed: ", "")).toBe(errors);
      if (!compiled.program) return;
      const { program } = compiled;
      expect(formatType(program.resultType)).toBe(resultType);
      expect([program.cost.min, Math.min(program.cost.max, 2 ** 53)]).toEqual(cost);
      for (const [index, want] of results.entries()) {
        const budget = { remaining: 1e9 };
        const self = celValueOf(objects[index] as Json, schema);
        const value = program.evaluate({ self, oldSelf: self }, budget);
        const shown =
          value instanceof CelError
            ? value.message
            : [typeNameOf(value), show(value)].filter((part) => part !== undefined).join(":");
        // Where the recording contains only the type, the type is compared.
        const wanted = want.error ?? (shown.includes(":") ? want.value : want.value?.replace(/:.*/s, ""));
        expect(shown).toBe(wanted);
        expect(1e9 - budget.remaining).toBe(want.cost);
      }
    });
  }
}
