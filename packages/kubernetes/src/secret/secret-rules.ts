/** Defaults and validation of Secret. */
import { SERVICE_ACCOUNT_TOKEN_TYPE, SERVICE_ACCOUNT_NAME_ANNOTATION } from "../well-known-names.ts";
import { isObject, type DeepReadonly } from "@flotilla/base";
import { builtInAdmission, checkUnchanged, field, fill, tlsPairProblem } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError } from "@flotilla/apimachinery";
import { MAX_DATA_BYTES, checkDataKeys, checkImmutableData, encodedBytes } from "../configmap/data-keys.ts";
import { Secret } from "./secret-kind.ts";

const TLS = "kubernetes.io/tls";

function complete(secret: DeepReadonly<Secret>): DeepReadonly<Secret> {
  const typed: DeepReadonly<Secret> = fill(secret, { type: "Opaque" });
  const { stringData, ...rest } = typed;
  if (!stringData) return typed;
  // `stringData` is write-only: it is stored encoded in `data`, and wins over existing values.
  const encoded = Object.fromEntries(
    Object.entries(stringData).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
  );
  return { ...rest, data: { ...rest.data, ...encoded } };
}

/** The decoded value; undefined when the key is absent. */
function valueOf({ data = {} }: DeepReadonly<Secret>, key: string): string | undefined {
  return Object.hasOwn(data, key) ? Buffer.from(data[key] ?? "", "base64").toString() : undefined;
}

/** The required keys of a well-known Secret type. */
function checkTypedKeys(secret: DeepReadonly<Secret>): FieldError[] {
  const has = (key: string): boolean => Object.hasOwn(secret.data ?? {}, key);
  const lacks = (...keys: string[]): FieldError[] =>
    keys.filter((key) => !has(key)).map((key) => field.required(`data[${key}]`));
  switch (secret.type) {
    case SERVICE_ACCOUNT_TOKEN_TYPE:
      return secret.metadata.annotations?.[SERVICE_ACCOUNT_NAME_ANNOTATION]
        ? []
        : [field.required(`metadata.annotations[${SERVICE_ACCOUNT_NAME_ANNOTATION}]`)];
    case "kubernetes.io/dockercfg":
      return checkJson(secret, ".dockercfg");
    case "kubernetes.io/dockerconfigjson":
      return checkJson(secret, ".dockerconfigjson");
    case "kubernetes.io/basic-auth":
      return has("username") || has("password") ? [] : lacks("username", "password");
    case "kubernetes.io/ssh-auth":
      return valueOf(secret, "ssh-privatekey") ? [] : [field.required("data[ssh-privatekey]")];
    case TLS:
      return lacks("tls.crt", "tls.key");
    default:
      return [];
  }
}

const REDACTED = "<secret contents redacted>";

function checkJson(secret: DeepReadonly<Secret>, key: string): FieldError[] {
  const text = valueOf(secret, key);
  if (text === undefined) return [field.required(`data[${key}]`)];
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The parser's message would repeat a part of the secret.
    return [field.invalid(`data[${key}]`, REDACTED, "must be a JSON object")];
  }
  if (parsed === null || isObject(parsed)) return [];
  const shape = Array.isArray(parsed) ? "array" : typeof parsed === "boolean" ? "bool" : typeof parsed;
  return [
    field.invalid(
      `data[${key}]`,
      REDACTED,
      `json: cannot unmarshal ${shape} into Go value of type map[string]interface {}`,
    ),
  ];
}

export const rules: AnyAdmission[] = [
  builtInAdmission(Secret, "core-v1", {
    complete,
    validate: ({ object, oldObject }) => [
      ...(oldObject ? checkUnchanged("type", object.type, oldObject.type) : []),
      ...checkImmutableData(object, oldObject),
      ...checkDataKeys("data", object.data),
      ...(encodedBytes(object.data) > MAX_DATA_BYTES ? [field.tooLong("data", MAX_DATA_BYTES)] : []),
      ...checkTypedKeys(object),
    ],
    warnings({ object }) {
      const problem =
        object.type === TLS
          ? tlsPairProblem(valueOf(object, "tls.crt") ?? "", valueOf(object, "tls.key") ?? "")
          : undefined;
      return problem === undefined ? [] : [problem];
    },
  }),
];
