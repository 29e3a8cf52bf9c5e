/** Structural schemas and CEL: nearly valid schemas, rules and objects. */
import { equalJson, isObject, type Json, type JsonObject } from "@flotilla/base";
import { ApiError, compileSchema, type Schema } from "@flotilla/apimachinery";
import {
  celValueOf,
  CelError,
  checkValidationRules,
  compileCel,
  compileValidations,
  declareSchemaType,
} from "@flotilla/cel";
import { expressions, objects, schemas, widget } from "../corpus.ts";
import { mutateJson, mutateText } from "../mutate.ts";
import { defineTarget } from "../target.ts";

const isApiError = (error: unknown): boolean => error instanceof ApiError && error.status.code < 500;
const asObject = (value: Json): JsonObject => (isObject(value) ? value : { value });

/** Accepted schemas, and objects that were not validated yet. */
export const structural = defineTarget({
  name: "structural-schema",
  generate(chance) {
    const { schema, objects: known } = chance.oneIn(3)
      ? { schema: schemas[0] as Schema, objects: [widget] }
      : chance.pick(expressions);
    return { schema, object: asObject(mutateJson(chance, known.length > 0 ? chance.pick(known) : widget, objects)) };
  },
  declares: isApiError,
  run({ schema, object }) {
    const before = JSON.stringify(object);
    const compiled = compileSchema(schema);
    const admitted = compiled.admit(object, { unknownFields: [] });
    if (JSON.stringify(object) !== before) return "the object was changed";
    if (!equalJson(compiled.admit(admitted), admitted)) return "admitting twice changes something";
    const findings = compiled.validate(admitted);
    const settled = compiled.validate(admitted, { settled: admitted });
    if (settled !== undefined) return "an unchanged object has validation errors";
    if (findings?.values.some(({ field, message }) => typeof field !== "string" || typeof message !== "string"))
      return "a finding without a message";
    return undefined;
  },
});

const CEL_WORDS = [
  "self",
  "oldSelf",
  ".",
  "(",
  ")",
  "[",
  "]",
  "{",
  "}",
  "?",
  ":",
  "&&",
  "||",
  "!",
  "==",
  "in",
  "has(",
  ".all(x, ",
  ".map(x, ",
  ".exists_one(x, ",
  "size(",
  "'",
  '"',
  "r'",
  "b'",
  "1u",
  "1e999",
  "0x",
  "-9223372036854775808",
  ".matches('(a+)+$')",
  "duration('1h')",
  "timestamp('2024-05-01T00:00:00Z')",
  "quantity('1')",
  "ip('1.2.3.4')",
  "cidr('10.0.0.0/8')",
  "url('https://a')",
  ".format([",
  ".split('')",
  ".replace('', 'x')",
  "lists.range(1000000)",
  "optional.of(",
  "dyn(",
  "type(",
  "__proto__",
  "constructor",
  "\\u0000",
  "/",
  "%",
  "sets.contains(",
  ".sortBy(x, x)",
  ".indexOf(''",
  "cel.bind(x, ",
];

const BUDGET = 1_000_000;

export const cel = defineTarget({
  name: "cel",
  boundMs: 3000,
  generate(chance) {
    const { schema, objects: known, texts } = chance.pick(expressions);
    const text = mutateText(chance, chance.pick(texts), [...CEL_WORDS, chance.pick(texts)]).slice(0, 5000);
    const object = known.length > 0 ? chance.pick(known) : {};
    return { schema, text, object: chance.oneIn(3) ? mutateJson(chance, object, objects) : object };
  },
  declares: () => false,
  run({ schema, text, object }) {
    const type = declareSchemaType(schema);
    if (!type) return undefined;
    const compiled = compileCel(text, { variables: { self: type, oldSelf: type } });
    if (!compiled.program) return compiled.errors === "" ? "rejected without a reason" : undefined;
    const budget = { remaining: BUDGET };
    const self = celValueOf(object, schema);
    const value = compiled.program.evaluate({ self, oldSelf: self }, budget);
    if (value === undefined) return "no value";
    if (value instanceof CelError) return undefined;
    return compiled.program.cost.min >= 0 && budget.remaining <= BUDGET ? undefined : "a negative cost";
  },
});

/** Rules of a CRD that was not accepted yet, and objects to validate with them. */
export const celRules = defineTarget({
  name: "cel-rules",
  boundMs: 3000,
  generate(chance) {
    const { schema, objects: known, texts } = chance.pick(expressions);
    const rules = chance.list(1 + chance.size(4), () => ({
      rule: chance.oneIn(2) ? mutateText(chance, chance.pick(texts), CEL_WORDS).slice(0, 2000) : chance.pick(texts),
      messageExpression: chance.pick(texts),
    }));
    const object = known.length > 0 ? chance.pick(known) : {};
    return {
      schema: { ...schema, "x-kubernetes-validations": rules },
      object: asObject(mutateJson(chance, object, objects)),
    };
  },
  declares: () => false,
  run({ schema, object }) {
    checkValidationRules(schema, { path: "spec.validation.openAPIV3Schema" });
    const compiled = compileSchema(schema);
    let admitted: JsonObject;
    try {
      admitted = compiled.admit(object);
    } catch (error) {
      if (isApiError(error)) return undefined;
      throw error;
    }
    if (compiled.validate(admitted) !== undefined) return undefined;
    const outcome = compileValidations(schema).validate(admitted, admitted);
    return outcome.errors.every(({ message }) => message !== "") ? undefined : "an error without a message";
  },
});
