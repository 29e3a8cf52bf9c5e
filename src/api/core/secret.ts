/** Secret: a ConfigMap for what must not be shown. */
import type { DeepReadonly } from "../../base/index.ts";
import type { FieldError } from "../../machinery/index.ts";
import type { AnyAdmission } from "../admission.ts";
import { ageColumn, column, nameColumn } from "../columns.ts";
import { builtInAdmission, builtInKind } from "../define.ts";
import type { Secret as SecretFacts } from "../facts/core-v1.ts";
import { checkUnchanged, missing } from "../field-errors.ts";
import { fill } from "../fill.ts";
import type { Kind } from "../kind.ts";
import { checkDataKeys } from "./data-keys.ts";

export type Secret = SecretFacts;

export const Secret: Kind<Secret> = builtInKind<Secret>({
  group: "",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  scope: "Namespaced",
  facts: "core-v1",
  columns: [nameColumn, column<Secret>("Type", ({ type = "" }) => type), column<Secret>("Data", ({ data = {} }) => Object.keys(data).length), ageColumn],
});

/** What a Secret of a well-known type must hold, every key or any of them. */
const TYPED_KEYS: Readonly<Record<string, { all?: readonly string[]; any?: readonly string[] }>> = {
  "kubernetes.io/tls": { all: ["tls.crt", "tls.key"] },
  "kubernetes.io/dockercfg": { all: [".dockercfg"] },
  "kubernetes.io/dockerconfigjson": { all: [".dockerconfigjson"] },
  "kubernetes.io/ssh-auth": { all: ["ssh-privatekey"] },
  "kubernetes.io/basic-auth": { any: ["username", "password"] },
};

function checkTypedKeys({ type = "Opaque", data = {} }: DeepReadonly<Secret>): FieldError[] {
  const { all = [], any = [] } = TYPED_KEYS[type] ?? {};
  const lacking = all.filter((key) => data[key] === undefined);
  if (any.length > 0 && !any.some((key) => data[key] !== undefined)) lacking.push(...any);
  return lacking.map((key) => missing(`data[${key}]`));
}

export const admissions: AnyAdmission[] = [
  builtInAdmission(Secret, "core-v1", {
    complete: (secret) => fill(secret, { type: "Opaque" }),
    validate: ({ object, oldObject }) => [
      ...checkDataKeys("data", object.data),
      ...checkTypedKeys(object),
      ...(oldObject ? checkUnchanged("type", object.type, oldObject.type) : []),
    ],
  }),
];
