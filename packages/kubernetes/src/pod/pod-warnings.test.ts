import { expect, test } from "vitest";
import { podWarnings, templateWarnings } from "./pod-warnings.ts";

const container = (rest: object): { name: string } => ({ name: "c", ...rest });

const cases: Record<string, [spec: object, want: string[]]> = {
  "has no warnings for a plain pod": [
    {
      containers: [
        container({
          env: [
            { name: "A", value: "1" },
            { name: "A", value: "$(A)2" },
          ],
        }),
      ],
    },
    [],
  ],
  "a duplicate environment variable": [
    {
      containers: [
        container({
          env: [
            { name: "A", value: "1" },
            { name: "A", value: "2" },
          ],
        }),
      ],
    },
    ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
  ],
  "a fractional byte value": [
    { containers: [container({ resources: { limits: { memory: "100m" } } })] },
    ['spec.containers[0].resources.limits[memory]: fractional byte value "100m" is invalid, must be an integer'],
  ],
  "a deprecated node label": [
    { containers: [], nodeSelector: { "beta.kubernetes.io/os": "linux" } },
    ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
  ],
  "a duplicate port": [
    {
      containers: [
        container({
          ports: [
            { containerPort: 80, protocol: "TCP" },
            { containerPort: 80, protocol: "TCP" },
          ],
        }),
      ],
    },
    ["spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]"],
  ],
  "overlapping file paths": [
    {
      containers: [],
      volumes: [
        {
          name: "v",
          configMap: {
            name: "m",
            items: [
              { key: "a", path: "x" },
              { key: "b", path: "x/y" },
            ],
          },
        },
      ],
    },
    ['volume "v" (ConfigMap "m"): overlapping paths: "x/y" with "x"'],
  ],
};
for (const [behaviour, [spec, want]] of Object.entries(cases)) {
  test(`warns of ${behaviour}`, () => {
    expect(podWarnings("", spec as Parameters<typeof podWarnings>[1], undefined, false)).toEqual(want);
  });
}

test("warnings of a template name its field path", () => {
  const template = {
    metadata: { annotations: { "scheduler.alpha.kubernetes.io/critical-pod": "" } },
    spec: { containers: [], terminationGracePeriodSeconds: -1 },
  };

  expect(templateWarnings("spec.template", template)).toEqual([
    'spec.template.metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead',
    "spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1",
  ]);
});
