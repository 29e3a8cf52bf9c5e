import { expect, test } from "vitest";
import { field, type FieldError } from "./field.ts";

const cases: Record<string, { error: FieldError; want: [type: FieldError["type"], message: string] }> = {
  "invalid shows the value as JSON and the detail": {
    error: field.invalid("spec.replicas", -1, "must be greater than or equal to 0"),
    want: ["Invalid", "Invalid value: -1: must be greater than or equal to 0"],
  },
  "invalid shows an absent value as null": {
    error: field.invalid("spec.selector", undefined, "field is immutable"),
    want: ["Invalid", "Invalid value: null: field is immutable"],
  },
  "invalid without a detail ends with the value": {
    error: field.invalid("spec.selector", { matchLabels: { app: "a" } }, ""),
    want: ["Invalid", 'Invalid value: {"matchLabels":{"app":"a"}}'],
  },
  "invalid with a formatted value shows it unchanged": {
    error: field.invalid("spec.replicas", field.shown("intstr.IntOrString{Type:0}"), "must be a percentage"),
    want: ["Invalid", "Invalid value: intstr.IntOrString{Type:0}: must be a percentage"],
  },
  "invalid with noValue shows only the detail": {
    error: field.invalid("spec", field.noValue, "specify one of a and b"),
    want: ["Invalid", "Invalid value: specify one of a and b"],
  },
  "required needs no detail": { error: field.required("spec.name"), want: ["Required", "Required value"] },
  "required with a detail": {
    error: field.required("spec.name", "must be set"),
    want: ["Required", "Required value: must be set"],
  },
  duplicate: { error: field.duplicate("spec.ports[1]", 80), want: ["Duplicate", "Duplicate value: 80"] },
  "notFound with a detail": {
    error: field.notFound("spec.volumes", "data", "must be a volume"),
    want: ["NotFound", 'Not found: "data": must be a volume'],
  },
  "notSupported lists the supported values in quotes": {
    error: field.notSupported("spec.type", "C", ["A", "B"]),
    want: ["NotSupported", 'Unsupported value: "C": supported values: "A", "B"'],
  },
  forbidden: { error: field.forbidden("spec", "may not change"), want: ["Forbidden", "Forbidden: may not change"] },
  "tooLong with a limit of several bytes": {
    error: field.tooLong("metadata.name", 63),
    want: ["TooLong", "Too long: may not be more than 63 bytes"],
  },
  "tooLong with a limit of one byte": {
    error: field.tooLong("metadata.name", 1),
    want: ["TooLong", "Too long: may not be more than 1 byte"],
  },
  tooMany: {
    error: field.tooMany("spec.rules", 21, 20),
    want: ["TooMany", "Too many: 21: must have at most 20 items"],
  },
  "tooMany with a limit of one item": {
    error: field.tooMany("spec.rules", 2, 1),
    want: ["TooMany", "Too many: 2: must have at most 1 item"],
  },
  typeInvalid: {
    error: field.typeInvalid("spec.zone", "a", "must be of type array"),
    want: ["TypeInvalid", 'Invalid value: "a": must be of type array'],
  },
  internal: {
    error: field.internal("metadata", "cannot be decoded"),
    want: ["Internal", "Internal error: cannot be decoded"],
  },
};

for (const [behaviour, { error, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect([error.type, error.message]).toEqual(want);
  });
}
