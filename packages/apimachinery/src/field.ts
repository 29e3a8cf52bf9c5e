/**
 * Errors of single fields, with the constructors and the messages of k8s.io/apimachinery/pkg/util/validation/field:
 * `field.invalid("spec.replicas", -1, "must be greater than or equal to 0")`. Clients and their tests compare the
 * messages.
 */
import { quoteText } from "./format-value.ts";

/** An error of one field, in Kubernetes' wording. */
export interface FieldError {
  type:
    | "Required"
    | "Invalid"
    | "NotSupported"
    | "Duplicate"
    | "Forbidden"
    | "TooLong"
    | "TooMany"
    | "NotFound"
    | "TypeInvalid"
    | "Internal";
  /** `spec.template.spec.containers[0].image` */
  field: string;
  /**
   * The text after the field in the message: `Required value`, `Invalid value: -1: must be greater than or equal to 0`.
   */
  message: string;
}

/** A value that messages show as this text instead of as JSON. */
class ShownValue {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Go's `OmitValueType`: the message shows no value. */
const NO_VALUE = new ShownValue("");

const because = (detail: string | undefined): string => (detail ? `: ${detail}` : "");

/** Longer objects and lists are omitted, as in upstream's errors without a value: the field already names them. */
const MAX_SHOWN_CHARACTERS = 256;

function shownAs(value: unknown): string {
  if (value === NO_VALUE) return "";
  if (value instanceof ShownValue) return `: ${value.text}`;
  const text = JSON.stringify(value ?? null);
  return typeof value === "object" && text.length > MAX_SHOWN_CHARACTERS ? "" : `: ${text}`;
}

export const field = {
  /** Go's `OmitValueType`, as the value of an error whose message shows none. */
  noValue: NO_VALUE,
  /** A value that is already formatted, for messages that upstream does not print as JSON. */
  shown: (text: string): ShownValue => new ShownValue(text),

  /** Whether the message of an error shows this value. */
  shows: (value: unknown): boolean => shownAs(value) !== "",

  invalid: (path: string, value: unknown, detail?: string): FieldError => ({
    type: "Invalid",
    field: path,
    message: `Invalid value${shownAs(value)}${because(detail)}`,
  }),
  required: (path: string, detail?: string): FieldError => ({
    type: "Required",
    field: path,
    message: `Required value${because(detail)}`,
  }),
  duplicate: (path: string, value: unknown): FieldError => ({
    type: "Duplicate",
    field: path,
    message: `Duplicate value${shownAs(value)}`,
  }),
  notFound: (path: string, value: unknown, detail?: string): FieldError => ({
    type: "NotFound",
    field: path,
    message: `Not found${shownAs(value)}${because(detail)}`,
  }),
  notSupported: (path: string, value: unknown, supported: readonly string[]): FieldError => ({
    type: "NotSupported",
    field: path,
    message: `Unsupported value${shownAs(value)}: supported values: ${supported.map(quoteText).join(", ")}`,
  }),
  forbidden: (path: string, detail: string): FieldError => ({
    type: "Forbidden",
    field: path,
    message: `Forbidden${because(detail)}`,
  }),
  tooLong: (path: string, maxLength: number): FieldError => ({
    type: "TooLong",
    field: path,
    message: `Too long: may not be more than ${maxLength} ${maxLength === 1 ? "byte" : "bytes"}`,
  }),
  tooMany: (path: string, actual: number, maximum: number): FieldError => ({
    type: "TooMany",
    field: path,
    message: `Too many: ${actual}: must have at most ${maximum} ${maximum === 1 ? "item" : "items"}`,
  }),
  typeInvalid: (path: string, value: unknown, detail: string): FieldError => ({
    type: "TypeInvalid",
    field: path,
    message: `Invalid value${shownAs(value)}${because(detail)}`,
  }),
  internal: (path: string, detail: string): FieldError => ({
    type: "Internal",
    field: path,
    message: `Internal error${because(detail)}`,
  }),
} as const;
