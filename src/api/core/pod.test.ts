import { expect, test } from "vitest";
import { deepFreeze, type JsonObject } from "../../base/index.ts";
import type { Review } from "../admission.ts";
import type { Pod as PodType } from "../facts/core-v1.ts";
import { admissions } from "./pod.ts";
import { pullPolicyOf } from "./pod-defaults.ts";

const admission = admissions[0];
const pod = (spec: object): PodType => ({ apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "shop" }, spec }) as PodType;
const review = (object: PodType, rest: Partial<Review<PodType>> = {}): Review<PodType> => ({
  operation: "CREATE",
  cluster: "m",
  version: "v1",
  user: { name: "u", groups: [] },
  object: deepFreeze(object),
  dryRun: false,
  newUid: () => "abcde000-0000-4000-8000-000000000000",
  warn() {},
  ...rest,
});
const created = (spec: object): PodType => admission?.mutate?.(review(pod(spec))) as PodType;
const problems = (object: PodType, old?: PodType): string[] =>
  (admission?.validate?.(review(object, old ? { operation: "UPDATE", oldObject: old } : {})) ?? []).map(({ field, message }) => `${field}: ${message}`);

test("a new pod gets what Kubernetes gives to every pod", () => {
  const { spec } = created({ containers: [{ name: "c", image: "i" }] });

  expect(spec).toEqual({
    containers: [
      {
        name: "c",
        image: "i",
        imagePullPolicy: "Always",
        resources: {},
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "File",
        volumeMounts: [{ name: "kube-api-access-abcde", readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" }],
      },
    ],
    dnsPolicy: "ClusterFirst",
    enableServiceLinks: true,
    preemptionPolicy: "PreemptLowerPriority",
    priority: 0,
    restartPolicy: "Always",
    schedulerName: "default-scheduler",
    securityContext: {},
    serviceAccount: "default",
    serviceAccountName: "default",
    terminationGracePeriodSeconds: 30,
    tolerations: [
      { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
      { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
    ],
    volumes: [
      {
        name: "kube-api-access-abcde",
        projected: {
          defaultMode: 420,
          sources: [
            { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
            { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
            { downwardAPI: { items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }] } },
          ],
        },
      },
    ],
  });
});

test("probes, ports, variables and volumes are filled in", () => {
  const { spec } = created({
    automountServiceAccountToken: false,
    containers: [{ name: "c", image: "i:1", ports: [{ containerPort: 80 }], livenessProbe: { httpGet: { port: 80 } }, env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] }],
    volumes: [{ name: "v", configMap: { name: "c" } }, { name: "e" }],
  });

  expect(spec.containers[0]).toMatchObject({
    imagePullPolicy: "IfNotPresent",
    ports: [{ containerPort: 80, protocol: "TCP" }],
    livenessProbe: { httpGet: { path: "/", port: 80, scheme: "HTTP" }, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
    env: [{ name: "A", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } }],
  });
  expect(spec.volumes).toEqual([
    { name: "v", configMap: { name: "c", defaultMode: 420 } },
    { name: "e", emptyDir: {} },
  ]);
});

test("limits are requests where none are stated", () => {
  const { spec } = created({ containers: [{ name: "c", image: "i", resources: { limits: { cpu: "0.1", memory: "1Gi" }, requests: { cpu: "50m" } } }] });

  expect(spec.containers[0]?.resources).toEqual({ limits: { cpu: "100m", memory: "1Gi" }, requests: { cpu: "50m", memory: "1Gi" } });
});

const policies: Record<string, [image: string, want: string]> = {
  "an image without a tag is always pulled": ["nginx", "Always"],
  "the tag latest is always pulled": ["example.com:5000/nginx:latest", "Always"],
  "a port of the registry is no tag": ["example.com:5000/nginx", "Always"],
  "another tag is pulled once": ["nginx:1.27", "IfNotPresent"],
  "a digest is pulled once": ["nginx@sha256:0000", "IfNotPresent"],
};
for (const [behaviour, [image, want]] of Object.entries(policies)) {
  test(behaviour, () => {
    expect(pullPolicyOf(image)).toBe(want);
  });
}

const refusals: Record<string, [spec: JsonObject, want: string[]]> = {
  "a container needs an image": [{ containers: [{ name: "c" }] }, ["spec.containers[0].image: Required value"]],
  "two containers cannot share a name": [{ containers: [{ name: "c", image: "i" }, { name: "c", image: "i" }] }, ['spec.containers[1].name: Duplicate value: "c"']],
  "a port is at most 65535": [{ containers: [{ name: "c", image: "i", ports: [{ containerPort: 99999 }] }] }, ["spec.containers[0].ports[0].containerPort: Invalid value: 99999: must be between 1 and 65535, inclusive"]],
  "a probe has one handler": [{ containers: [{ name: "c", image: "i", livenessProbe: {} }] }, ["spec.containers[0].livenessProbe: Required value: must specify a handler type"]],
  "a mount needs its volume": [{ containers: [{ name: "c", image: "i", volumeMounts: [{ name: "x", mountPath: "/x" }] }] }, ['spec.containers[0].volumeMounts[0].name: Not found: "x"']],
  "a toleration for everything says Exists": [
    { containers: [{ name: "c", image: "i" }], tolerations: [{ operator: "Equal" }] },
    ['spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"'],
  ],
};
for (const [behaviour, [spec, want]] of Object.entries(refusals)) {
  test(behaviour, () => {
    expect(problems(pod(spec))).toEqual(want);
  });
}

test("an image may change on a running pod, and nothing beside it", () => {
  const old = created({ containers: [{ name: "c", image: "i:1" }] });
  const changed = (container: object): PodType => ({ ...old, spec: { ...old.spec, containers: [{ ...old.spec.containers[0], name: "c", ...container }] } });

  expect(problems(changed({ image: "i:2" }), old)).toEqual([]);
  expect(problems(changed({ command: ["sh"] }), old)[0]).toMatch(/^spec: Forbidden: pod updates may not change fields other than/);
});

test("a pod is bound to a node once", () => {
  const old = created({ containers: [{ name: "c", image: "i" }] });
  const bound: PodType = { ...old, spec: { ...old.spec, nodeName: "n1" } };

  expect(problems(bound, old)).toEqual([]);
  expect(problems({ ...bound, spec: { ...bound.spec, nodeName: "n2" } }, bound)).toHaveLength(1);
});
