import { expect, test } from "vitest";
import type { Pod as PodType } from "@flotilla/apimachinery/facts/core-v1.ts";
import { rules } from "./pod-rules.ts";
import { review } from "../../../apimachinery/src/kind/test-review.ts";

const pod = (spec: object, metadata: object = {}): PodType =>
  ({ apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "shop", ...metadata }, spec }) as PodType;
const container = (rest: object = {}): object => ({ name: "c", image: "i", ...rest });
const created = (spec: object, metadata?: object): PodType => review(rules, pod(spec, metadata)).object;
const problems = (spec: object, metadata?: object): string[] => review(rules, pod(spec, metadata)).problems;

test("a new pod gets the Kubernetes defaults and is Pending", () => {
  const { spec, status } = created({ containers: [container()] });

  expect(spec).toEqual({
    containers: [
      {
        name: "c",
        image: "i",
        imagePullPolicy: "Always",
        resources: {},
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "File",
      },
    ],
    dnsPolicy: "ClusterFirst",
    enableServiceLinks: true,
    restartPolicy: "Always",
    schedulerName: "default-scheduler",
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  });
  expect(status).toEqual({ phase: "Pending", qosClass: "BestEffort" });
});

test("probes, ports, variables and volumes are defaulted", () => {
  const { spec } = created({
    containers: [
      container({
        image: "i:1",
        ports: [{ containerPort: 80 }],
        livenessProbe: { httpGet: { port: 80 } },
        env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
      }),
    ],
    volumes: [{ name: "v", configMap: { name: "c" } }, { name: "e" }],
  });

  expect(spec.containers[0]).toMatchObject({
    imagePullPolicy: "IfNotPresent",
    ports: [{ containerPort: 80, protocol: "TCP" }],
    livenessProbe: {
      httpGet: { path: "/", port: 80, scheme: "HTTP" },
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    },
    env: [{ name: "A", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } }],
  });
  expect(spec.volumes).toEqual([
    { name: "v", configMap: { name: "c", defaultMode: 420 } },
    { name: "e", emptyDir: {} },
  ]);
});

const specs: Record<string, [spec: object, want: object]> = {
  "requests default to limits": [
    { containers: [container({ resources: { limits: { cpu: "0.1", memory: "1Gi" }, requests: { cpu: "50m" } } })] },
    {
      containers: [{ resources: { limits: { cpu: "100m", memory: "1Gi" }, requests: { cpu: "50m", memory: "1Gi" } } }],
    },
  ],
  "quantities finer than a thousandth are rounded up": [
    { containers: [container({ resources: { requests: { cpu: "100u" } } })] },
    { containers: [{ resources: { requests: { cpu: "1m" } } }] },
  ],
  "the deprecated serviceAccount field sets serviceAccountName": [
    { containers: [container()], serviceAccount: "x" },
    { serviceAccountName: "x", serviceAccount: "x" },
  ],
  "a volume with only unknown fields becomes an emptyDir": [
    { containers: [container()], volumes: [{ name: "v", bogus: {} }] },
    { volumes: [{ name: "v", emptyDir: {} }] },
  ],
  "with hostNetwork the hostPort defaults to the containerPort": [
    { containers: [container({ ports: [{ containerPort: 80 }] })], hostNetwork: true },
    { containers: [{ ports: [{ containerPort: 80, hostPort: 80 }] }] },
  ],
  "a negative termination grace period becomes one second": [
    { containers: [container()], terminationGracePeriodSeconds: -3 },
    { terminationGracePeriodSeconds: 1 },
  ],
  "pod-level requests default from pod-level limits": [
    {
      containers: [container({ resources: { requests: { cpu: "1" } } })],
      resources: { limits: { cpu: "3", memory: "1Gi" } },
    },
    { resources: { limits: { cpu: "3", memory: "1Gi" }, requests: { cpu: "1", memory: "1Gi" } } },
  ],
};
for (const [behaviour, [spec, want]] of Object.entries(specs)) {
  test(behaviour, () => {
    expect(created(spec).spec).toMatchObject(want);
  });
}

test("a gated pod has a SchedulingGated condition from the start", () => {
  const { status } = created({ containers: [container()], schedulingGates: [{ name: "example.com/g" }] });

  expect(status?.conditions).toEqual([
    {
      type: "PodScheduled",
      status: "False",
      lastTransitionTime: "2024-05-01T12:00:00Z",
      reason: "SchedulingGated",
      message: "Scheduling is blocked due to non-empty scheduling gates",
    },
  ]);
});

test("matchLabelKeys of a topology spread constraint become requirements on the pod's own labels", () => {
  const constraint = {
    maxSkew: 1,
    topologyKey: "zone",
    whenUnsatisfiable: "DoNotSchedule",
    labelSelector: {},
    matchLabelKeys: ["app", "absent"],
  };

  const { spec } = created(
    { containers: [container()], topologySpreadConstraints: [constraint] },
    { labels: { app: "a" } },
  );

  expect(spec.topologySpreadConstraints?.[0]?.labelSelector).toEqual({
    matchExpressions: [{ key: "app", operator: "In", values: ["a"] }],
  });
});

const qualities: Record<string, [resources: object[], want: string]> = {
  "a pod without resources is BestEffort": [[{}], "BestEffort"],
  "a pod with some resources is Burstable": [[{ requests: { cpu: "1" } }, {}], "Burstable"],
  "a pod with limits equal to its requests is Guaranteed": [[{ limits: { cpu: "1", memory: "1Gi" } }], "Guaranteed"],
  "a pod with one container without limits is not Guaranteed": [
    [{ limits: { cpu: "1", memory: "1Gi" } }, { limits: { cpu: "1" } }],
    "Burstable",
  ],
};
for (const [behaviour, [resources, want]] of Object.entries(qualities)) {
  test(behaviour, () => {
    const containers = resources.map((item, index) => container({ name: `c${index}`, resources: item }));

    expect(created({ containers }).status?.qosClass).toBe(want);
  });
}

const refusals: Record<string, [spec: object, want: string[]]> = {
  "a pod needs a container": [{}, ["spec.containers: Required value"]],
  "a container needs a name and an image": [
    { containers: [{}] },
    ["spec.containers[0].name: Required value", "spec.containers[0].image: Required value"],
  ],
  "an image must not have surrounding whitespace": [
    { containers: [container({ image: " i" })] },
    ['spec.containers[0].image: Invalid value: " i": must not have leading or trailing whitespace'],
  ],
  "two containers cannot share a name": [
    { containers: [container(), container()] },
    ['spec.containers[1].name: Duplicate value: "c"'],
  ],
  "an init container must have a unique name": [
    { containers: [container()], initContainers: [container()] },
    ['spec.initContainers[0].name: Duplicate value: "c"'],
  ],
  "a port is at most 65535": [
    { containers: [container({ ports: [{ containerPort: 99999 }] })] },
    ["spec.containers[0].ports[0].containerPort: Invalid value: 99999: must be between 1 and 65535, inclusive"],
  ],
  "two containers cannot use the same host port": [
    {
      containers: [
        container({ ports: [{ containerPort: 1, hostPort: 80 }] }),
        container({ name: "d", ports: [{ containerPort: 2, hostPort: 80 }] }),
      ],
    },
    ['spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//80"'],
  ],
  "a probe needs a handler": [
    { containers: [container({ livenessProbe: {} })] },
    ["spec.containers[0].livenessProbe: Required value: must specify a handler type"],
  ],
  "an init container has no probes": [
    {
      containers: [container()],
      initContainers: [container({ name: "i", livenessProbe: { exec: { command: ["x"] } } })],
    },
    [
      "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
    ],
  ],
  "a mount needs its volume": [
    { containers: [container({ volumeMounts: [{ name: "x", mountPath: "/x" }] })] },
    ['spec.containers[0].volumeMounts[0].name: Not found: "x"'],
  ],
  "an invalid volume cannot be mounted": [
    {
      containers: [container({ volumeMounts: [{ name: "x", mountPath: "/x" }] })],
      volumes: [{ name: "x", secret: {} }],
    },
    ["spec.volumes[0].secret.secretName: Required value", 'spec.containers[0].volumeMounts[0].name: Not found: "x"'],
  ],
  "a volume has exactly one source": [
    { containers: [container()], volumes: [{ name: "x", emptyDir: {}, secret: { secretName: "s" } }] },
    ["spec.volumes[0].secret: Forbidden: may not specify more than 1 volume type"],
  ],
  "a variable has exactly one source": [
    {
      containers: [
        container({ env: [{ name: "A", value: "b", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] }),
      ],
    },
    ['spec.containers[0].env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'],
  ],
  "a request must not exceed its limit": [
    { containers: [container({ resources: { limits: { cpu: "1" }, requests: { cpu: "2" } } })] },
    ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
  ],
  "extended resources must be integers": [
    {
      containers: [
        container({ resources: { limits: { "example.com/gpu": "500m" }, requests: { "example.com/gpu": "500m" } } }),
      ],
    },
    [
      'spec.containers[0].resources.limits[example.com/gpu]: Invalid value: "500m": must be an integer',
      'spec.containers[0].resources.requests[example.com/gpu]: Invalid value: "500m": must be an integer',
    ],
  ],
  "a toleration without a key needs operator Exists": [
    { containers: [container()], tolerations: [{ operator: "Equal" }] },
    [
      'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    ],
  ],
  "a contradictory security context is printed as JSON": [
    { containers: [container({ securityContext: { privileged: true, allowPrivilegeEscalation: false } })] },
    [
      "spec.containers[0].securityContext: Invalid value: " +
        '{"privileged":true,"allowPrivilegeEscalation":false}: cannot set `allowPrivilegeEscalation` to false ' +
        "and `privileged` to true",
    ],
  ],
  "a gated pod cannot have a nodeName": [
    { containers: [container()], nodeName: "n", schedulingGates: [{ name: "a.b/c" }] },
    ["spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"],
  ],
};
for (const [behaviour, [spec, want]] of Object.entries(refusals)) {
  test(behaviour, () => {
    expect(problems(spec)).toEqual(want);
  });
}

test("the key __proto__ is rejected as an invalid key", () => {
  const annotations = JSON.parse('{"__proto__": "x"}') as object;

  expect(
    problems(
      { containers: [container()], nodeSelector: JSON.parse('{"__proto__": "x"}') as object },
      { annotations },
    )[0],
  ).toMatch(/^spec\.nodeSelector: Invalid value: "__proto__"/);
});
