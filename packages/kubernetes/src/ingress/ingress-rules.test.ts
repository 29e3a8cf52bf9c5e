import { expect, test } from "vitest";
import { problemsOf, warningsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { Ingress } from "./ingress-kind.ts";
import { rules } from "./ingress-rules.ts";

const backend = { service: { name: "s", port: { number: 80 } } };
const ingress = (spec: object, annotations?: Record<string, string>): Ingress => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: { name: "a", namespace: "default", annotations },
  spec,
});
const withPath = (path: object): object => ({
  rules: [{ http: { paths: [{ path: "/", pathType: "Prefix", backend, ...path }] } }],
});
const PATH = "spec.rules[0].http.paths[0]";

const refused: Record<string, [spec: object, want: string[]]> = {
  "an Ingress without rules and default backend": [
    {},
    ["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"],
  ],
  "a path without a type": [
    withPath({ pathType: undefined }),
    [`${PATH}.pathType: Required value: pathType must be specified`],
  ],
  "a path that does not start with a slash": [
    withPath({ path: "x" }),
    [`${PATH}.path: Invalid value: "x": must be an absolute path`],
  ],
  "a path with a .. segment": [
    withPath({ path: "/a/../b" }),
    [`${PATH}.path: Invalid value: "/a/../b": must not contain '/../'`],
  ],
  "a path that ends with ..": [
    withPath({ path: "/a/.." }),
    [`${PATH}.path: Invalid value: "/a/..": cannot end with '/..'`],
  ],
  "an IP address as a host": [
    { rules: [{ host: "1.2.3.4" }] },
    ['spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address'],
  ],
  "rules without paths": [{ rules: [{ http: { paths: [] } }] }, ["spec.rules[0].http.paths: Required value"]],
  "a backend with both a resource and a service": [
    { defaultBackend: { ...backend, resource: { kind: "K", name: "n" } } },
    ['spec.defaultBackend: Invalid value: "": cannot set both resource and service backends'],
  ],
  "a Service without a port": [
    { defaultBackend: { service: { name: "s" } } },
    ["spec.defaultBackend: Required value: port name or number is required"],
  ],
  "a path without a backend": [
    withPath({ backend: undefined }),
    [`${PATH}.backend: Invalid value: "": resource or service backend is required`],
  ],
};
for (const [what, [spec, want]] of Object.entries(refused)) {
  test(`rejects ${what}`, () => {
    expect(problemsOf(rules, ingress(spec))).toEqual(want);
  });
}

test("a stored secret name stays valid", () => {
  const spec = { defaultBackend: backend, tls: [{ secretName: "A_b" }] };

  expect(problemsOf(rules, ingress(spec))).toHaveLength(1);
  expect(problemsOf(rules, ingress(spec), ingress(spec))).toEqual([]);
});

test("ingressClassName and the annotation must match", () => {
  const annotations = { "kubernetes.io/ingress.class": "x" };

  expect(problemsOf(rules, ingress({ defaultBackend: backend, ingressClassName: "y" }, annotations))).toEqual([
    'annotations.kubernetes.io/ingress.class: Invalid value: "x": must match `ingressClassName` when both are specified',
  ]);
  expect(warningsOf(rules, ingress({ defaultBackend: backend }, annotations))).toEqual([
    `annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`,
  ]);
});

test("prints three hosts and the number of further rules", () => {
  const object = ingress({ rules: [{ host: "a.b" }, {}, { host: "c.d" }, { host: "e.f" }, { host: "g.h" }] });

  expect(Ingress.versions["v1"]?.columns[2]?.value?.(object as never, 0)).toBe("a.b,c.d,e.f + 2 more...");
});
