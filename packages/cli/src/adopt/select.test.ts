import { expect, test } from "vitest";
import type { Live } from "./member-reader.ts";
import { isClustersOwn, readSelections } from "./select.ts";

test("objects are named as in kubectl", () => {
  expect(readSelections(["deployment", "web", "api"], false)).toEqual([{ type: "deployment", names: ["web", "api"] }]);
  expect(readSelections(["deployment/web", "svc/web"], false)).toEqual([
    { type: "deployment", names: ["web"] },
    { type: "svc", names: ["web"] },
  ]);
  expect(readSelections(["deployment"], true)).toEqual([{ type: "deployment", names: [] }]);
});

test.each([
  [["deployment"], false, "specify which objects to adopt"],
  [["deployment", "web"], true, "not both"],
  [["deployment/web"], true, "specify only a type"],
  [["deployment", "svc/web"], false, "either as TYPE NAME... or as TYPE/NAME..., not both"],
  [["deployment/web/x"], false, "is not TYPE/NAME"],
  [["deployment/"], false, "is not TYPE/NAME"],
])("%j is rejected", (args, isWhole, want) => {
  expect(() => readSelections(args, isWhole)).toThrow(want);
});

test("objects that every cluster creates for itself are not selected by --all", () => {
  const make = (kind: string, name: string, more: object = {}, apiVersion = "v1"): Live => ({
    apiVersion,
    kind,
    metadata: { namespace: "default", name },
    ...more,
  });
  const objects = [
    make("ConfigMap", "kube-root-ca.crt"),
    make("ConfigMap", "web"),
    make("ServiceAccount", "default"),
    make("Service", "kubernetes"),
    make("Secret", "token", { type: "kubernetes.io/service-account-token" }),
    make("Secret", "web"),
    make("Service", "kubernetes", {}, "example.com/v1"),
  ];

  expect(objects.filter(isClustersOwn).map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    "ConfigMap kube-root-ca.crt",
    "ServiceAccount default",
    "Service kubernetes",
    "Secret token",
  ]);
});
