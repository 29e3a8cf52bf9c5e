import { expect, test } from "vitest";
import { completedBy, problemsOf, warningsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { type Secret } from "./secret-kind.ts";
import { rules } from "./secret-rules.ts";

const makeSecret = (rest: Partial<Secret> = {}): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "a", namespace: "shop" },
  ...rest,
});
const encode = (text: string): string => Buffer.from(text).toString("base64");

test("stringData is stored encoded, and wins over data", () => {
  const { data, stringData, type } = completedBy(
    rules,
    makeSecret({ data: { a: encode("1"), b: encode("2") }, stringData: { a: "3" } }),
  ) as Secret;

  expect({ data, stringData, type }).toEqual({
    data: { a: encode("3"), b: encode("2") },
    stringData: undefined,
    type: "Opaque",
  });
});

const cases: Record<string, [object: Partial<Secret>, old: Partial<Secret> | undefined, want: string[]]> = {
  "a TLS secret needs a certificate and a key": [
    { type: "kubernetes.io/tls" },
    undefined,
    ["data[tls.crt]: Required value", "data[tls.key]: Required value"],
  ],
  "a basic-auth secret needs a username or a password": [
    { type: "kubernetes.io/basic-auth" },
    undefined,
    ["data[username]: Required value", "data[password]: Required value"],
  ],
  "a password alone is enough for a basic-auth secret": [
    { type: "kubernetes.io/basic-auth", data: { password: "" } },
    undefined,
    [],
  ],
  "an SSH key must not be empty": [
    { type: "kubernetes.io/ssh-auth", data: { "ssh-privatekey": "" } },
    undefined,
    ["data[ssh-privatekey]: Required value"],
  ],
  "a token secret must name its service account": [
    { type: "kubernetes.io/service-account-token" },
    undefined,
    ["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
  ],
  "a docker configuration must be a JSON object, and an invalid one is not printed": [
    { type: "kubernetes.io/dockercfg", stringData: { ".dockercfg": "hunter2" } },
    undefined,
    ['data[.dockercfg]: Invalid value: "<secret contents redacted>": must be a JSON object'],
  ],
  "the type is immutable": [{ type: "b" }, { type: "a" }, ['type: Invalid value: "b": field is immutable']],
  "the data of an immutable secret cannot change, nor can immutable be unset": [
    { type: "Opaque", data: { a: encode("2") } },
    { type: "Opaque", immutable: true, data: { a: encode("1") } },
    [
      "immutable: Forbidden: field is immutable when `immutable` is set",
      "data: Forbidden: field is immutable when `immutable` is set",
    ],
  ],
  "limits the size of the data": [
    { stringData: { a: "x".repeat(1024 * 1024 + 1) } },
    undefined,
    ["data: Too long: may not be more than 1048576 bytes"],
  ],
  "the key __proto__ is an ordinary key": [
    { data: JSON.parse('{"__proto__":"MQ=="}') as Record<string, string> },
    undefined,
    [],
  ],
};
for (const [behaviour, [object, old, want]] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(problemsOf(rules, makeSecret(object), old && makeSecret(old))).toEqual(want);
  });
}

test("warns of an invalid TLS key pair", () => {
  const data = { "tls.crt": encode("x"), "tls.key": encode("y") };

  expect(warningsOf(rules, makeSecret({ type: "kubernetes.io/tls", data }))).toEqual([
    "tls: failed to find any PEM data in certificate input",
  ]);
});
