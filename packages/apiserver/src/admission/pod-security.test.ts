import { describe, expect, test } from "vitest";
import { kubernetesKinds, kubernetesAdmissions } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { createTestServer } from "../test-server.ts";
import type { Answered, TestServer } from "../test-server.ts";
import { examined } from "./pod-security-check.ts";
import { detailsOf, policyOf, violations } from "./pod-security-policy.ts";

const LABEL = "pod-security.kubernetes.io/";
const namespace = (name: string, labels: Record<string, string> = {}): KubernetesObject => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels },
});
const start = (labels: Record<string, string>): Promise<TestServer> =>
  createTestServer({
    admissions: kubernetesAdmissions,
    profiles: {
      hub: { builtIns: kubernetesKinds, customs: [], objects: [namespace("shop", labels), namespace("free")] },
    },
  });

const plain = { name: "c", image: "i" };
const hardened = {
  ...plain,
  securityContext: {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    runAsNonRoot: true,
    seccompProfile: { type: "RuntimeDefault" as const },
  },
};
const pod = (spec: object = {}, name = "p"): object => ({ metadata: { name }, spec: { containers: [plain], ...spec } });
const deployment = (spec: object): object => ({
  metadata: { name: "d" },
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, spec: { containers: [plain], ...spec } },
  },
});
const PODS = "/api/v1/namespaces/shop/pods";
const STRATEGIC = { "content-type": "application/strategic-merge-patch+json" };
const MERGE = { "content-type": "application/merge-patch+json" };
const warningsOf = ({ headers }: Answered): string[] =>
  [headers.warning ?? []].flat().map((text) => text.replace(/^299 - "(.*)"$/, "$1").replaceAll('\\"', '"'));

describe("a pod", () => {
  test("is rejected when it violates the enforced level of its namespace", async () => {
    const { request } = await start({ [`${LABEL}enforce`]: "baseline" });

    const { status, body } = await request(
      "POST",
      PODS,
      pod({ hostNetwork: true, containers: [{ ...plain, ports: [{ containerPort: 443 }, { containerPort: 80 }] }] }),
    );

    expect([status, body.message]).toEqual([
      403,
      'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true), hostPort (container "c" uses hostPorts 443, 80)',
    ]);
  });

  test("is unrestricted without labels on its namespace", async () => {
    const { request } = await start({ [`${LABEL}enforce`]: "restricted" });

    const { status, headers } = await request("POST", "/api/v1/namespaces/free/pods", pod({ hostPID: true }));

    expect([status, headers.warning]).toEqual([201, undefined]);
  });

  test("is accepted with a warning where only a warn level is set", async () => {
    const { request } = await start({ [`${LABEL}warn`]: "restricted", [`${LABEL}warn-version`]: "v1.18" });

    const answered = await request("POST", PODS, pod());

    expect(answered.status).toBe(201);
    expect(warningsOf(answered)).toEqual([
      'would violate PodSecurity "restricted:v1.18": allowPrivilegeEscalation != false (container "c" must set ' +
        'securityContext.allowPrivilegeEscalation=false), runAsNonRoot != true (pod or container "c" must set ' +
        "securityContext.runAsNonRoot=true)",
    ]);
  });

  test("a pod that exists may change its labels but not its image after its namespace became stricter", async () => {
    const { request } = await start({});
    await request("POST", PODS, pod({ hostPID: true }));
    await request(
      "PATCH",
      "/api/v1/namespaces/shop",
      { metadata: { labels: { [`${LABEL}enforce`]: "baseline" } } },
      MERGE,
    );

    const labelled = await request("PATCH", `${PODS}/p`, { metadata: { labels: { a: "b" } } }, MERGE);
    const other = await request("PATCH", `${PODS}/p`, { spec: { containers: [{ ...plain, image: "j" }] } }, STRATEGIC);

    expect([labelled.status, other.status]).toEqual([200, 403]);
  });

  test("cannot get an ephemeral container that violates the level", async () => {
    const { request } = await start({ [`${LABEL}enforce`]: "baseline" });
    await request("POST", PODS, pod());

    const { status, body } = await request(
      "PATCH",
      `${PODS}/p/ephemeralcontainers`,
      { spec: { ephemeralContainers: [{ name: "e", image: "i", securityContext: { privileged: true } }] } },
      STRATEGIC,
    );

    expect([status, body.message]).toEqual([
      403,
      'pods "p" is forbidden: violates PodSecurity "baseline:latest": privileged (container "e" must not set securityContext.privileged=true)',
    ]);
  });
});

test("a workload is stored with a warning when its pods would be rejected", async () => {
  const { request } = await start({ [`${LABEL}enforce`]: "baseline" });

  const refused = await request("POST", "/apis/apps/v1/namespaces/shop/deployments", deployment({ hostIPC: true }));
  const fine = await request("POST", "/apis/apps/v1/namespaces/shop/deployments?dryRun=All", deployment({}));

  expect(refused.status).toBe(201);
  expect(warningsOf(refused)).toEqual(['would violate PodSecurity "baseline:latest": host namespaces (hostIPC=true)']);
  expect(warningsOf(fine)).toEqual([]);
});

describe("a namespace", () => {
  test("is rejected when its labels are invalid", async () => {
    const { request } = await start({});

    const { status, body } = await request(
      "POST",
      "/api/v1/namespaces",
      namespace("n", { [`${LABEL}enforce`]: "high", [`${LABEL}audit-version`]: "v1.01" }),
    );

    expect(status).toBe(422);
    expect((body.details as JsonObject).causes).toEqual([
      {
        reason: "FieldValueInvalid",
        message: 'Invalid value: "high": must be one of privileged, baseline, restricted',
        field: `metadata.labels[${LABEL}enforce]`,
      },
      {
        reason: "FieldValueInvalid",
        message: 'Invalid value: "v1.01": must be "latest" or "v1.x"',
        field: `metadata.labels[${LABEL}audit-version]`,
      },
    ]);
  });

  test("a namespace that becomes stricter warns about violating pods, with equal ones in one line", async () => {
    const { request } = await start({});
    for (const name of ["b", "a", "c"]) await request("POST", PODS, pod({ hostPID: true }, name));
    await request("POST", PODS, pod({ containers: [{ ...plain, securityContext: { privileged: true } }] }, "d"));
    await request("POST", PODS, pod({}, "e"));

    const stricter = await request(
      "PATCH",
      "/api/v1/namespaces/shop",
      { metadata: { labels: { [`${LABEL}enforce`]: "baseline" } } },
      MERGE,
    );
    const same = await request("PATCH", "/api/v1/namespaces/shop", { metadata: { labels: { a: "b" } } }, MERGE);

    expect(warningsOf(stricter)).toEqual([
      'existing pods in namespace "shop" violate the new PodSecurity enforce level "baseline:latest"',
      "a (and 2 other pods): host namespaces",
      "d: privileged",
    ]);
    expect(warningsOf(same)).toEqual([]);
  });
});

describe("Pod Security labels", () => {
  const cases: Record<string, { labels: Record<string, string>; enforce: string; warn: string }> = {
    "default to privileged": {
      labels: { [`${LABEL}audit`]: "restricted" },
      enforce: "privileged:latest",
      warn: "privileged:latest",
    },
    "that enforce a level also warn at that level": {
      labels: { [`${LABEL}enforce`]: "baseline", [`${LABEL}enforce-version`]: "v1.20" },
      enforce: "baseline:v1.20",
      warn: "baseline:v1.20",
    },
    "with a warn level override the enforced level for warnings": {
      labels: { [`${LABEL}enforce`]: "baseline", [`${LABEL}warn`]: "privileged" },
      enforce: "baseline:latest",
      warn: "privileged:latest",
    },
    "may set another version for warnings": {
      labels: { [`${LABEL}enforce`]: "baseline", [`${LABEL}warn-version`]: "v1.9" },
      enforce: "baseline:latest",
      warn: "baseline:v1.9",
    },
    "that are invalid enforce restricted and warn about nothing": {
      labels: { [`${LABEL}enforce`]: "x", [`${LABEL}warn`]: "y" },
      enforce: "restricted:latest",
      warn: "privileged:latest",
    },
  };
  for (const [behaviour, { labels, enforce, warn }] of Object.entries(cases)) {
    test(behaviour, () => {
      const policy = policyOf(labels);

      expect([
        `${policy?.enforce.level}:${policy?.enforce.version}`,
        `${policy?.warn.level}:${policy?.warn.version}`,
      ]).toEqual([enforce, warn]);
    });
  }

  test("Pod Security labels that are unrelated define no policy", () => {
    expect(policyOf({ "kubernetes.io/metadata.name": "a" })).toBeUndefined();
  });
});

type Spec = Parameters<typeof examined>[0];
const withContext = (securityContext: object): Spec => ({ containers: [{ ...plain, securityContext }] });
const restricted = (securityContext: object, spec: object = {}): Spec => ({
  containers: [{ ...hardened, securityContext: { ...hardened.securityContext, ...securityContext } }],
  ...spec,
});

const rules: [level: "baseline" | "restricted", version: string, spec: Spec, want: string][] = [
  ["restricted", "latest", { containers: [hardened] }, ""],
  [
    "baseline",
    "latest",
    withContext({ capabilities: { add: ["SYS_ADMIN", "CHOWN", "NET_ADMIN"] } }),
    'non-default capabilities (container "c" must not include "NET_ADMIN", "SYS_ADMIN" in securityContext.capabilities.add)',
  ],
  [
    "baseline",
    "latest",
    { containers: [plain], volumes: [{ name: "v", hostPath: { path: "/" } }] },
    'hostPath volumes (volume "v")',
  ],
  [
    "baseline",
    "latest",
    { containers: [{ ...plain, livenessProbe: { httpGet: { port: 1, host: "h" } } }] },
    'probe or lifecycle host (container "c" uses probe or lifecycle host "h")',
  ],
  ["baseline", "v1.33", { containers: [{ ...plain, livenessProbe: { httpGet: { port: 1, host: "h" } } }] }, ""],
  [
    "baseline",
    "latest",
    withContext({ procMount: "Unmasked" }),
    'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
  ],
  ["baseline", "latest", { ...withContext({ procMount: "Unmasked" }), hostUsers: false }, ""],
  [
    "baseline",
    "v1.34",
    { ...withContext({ procMount: "Unmasked" }), hostUsers: false },
    'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
  ],
  [
    "baseline",
    "latest",
    withContext({ seLinuxOptions: { type: "t", user: "u", role: "r" } }),
    'seLinuxOptions (container "c" set forbidden securityContext.seLinuxOptions: type "t"; user may not be set; role may not be set)',
  ],
  [
    "baseline",
    "v1.30",
    withContext({ seLinuxOptions: { type: "container_engine_t" } }),
    'seLinuxOptions (container "c" set forbidden securityContext.seLinuxOptions: type "container_engine_t")',
  ],
  ["baseline", "v1.31", withContext({ seLinuxOptions: { type: "container_engine_t" } }), ""],
  [
    "baseline",
    "latest",
    {
      ...withContext({ seccompProfile: { type: "Unconfined" } }),
      securityContext: { seccompProfile: { type: "Unconfined" } },
    },
    'seccompProfile (pod and container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
  ],
  [
    "baseline",
    "v1.31",
    { containers: [plain], securityContext: { sysctls: [{ name: "net.ipv4.tcp_rmem", value: "1" }] } },
    "forbidden sysctls (net.ipv4.tcp_rmem)",
  ],
  [
    "baseline",
    "v1.32",
    { containers: [plain], securityContext: { sysctls: [{ name: "net.ipv4.tcp_rmem", value: "1" }] } },
    "",
  ],
  [
    "baseline",
    "latest",
    { containers: [plain], securityContext: { windowsOptions: { hostProcess: true } } },
    "hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)",
  ],
  [
    "baseline",
    "latest",
    { containers: [plain], securityContext: { appArmorProfile: { type: "Unconfined" } } },
    'forbidden AppArmor profile (pod must not set AppArmor profile type to "Unconfined")',
  ],
  [
    "restricted",
    "latest",
    restricted({ capabilities: { add: ["CHOWN"] } }),
    'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]; container ' +
      '"c" must not include "CHOWN" in securityContext.capabilities.add)',
  ],
  [
    "restricted",
    "latest",
    restricted(
      {},
      {
        volumes: [
          { name: "v", nfs: { server: "s", path: "/" } },
          { name: "w", emptyDir: {} },
        ],
      },
    ),
    'restricted volume types (volume "v" uses restricted volume type "nfs")',
  ],
  [
    "restricted",
    "latest",
    restricted({ runAsNonRoot: false, runAsUser: 0 }),
    'runAsNonRoot != true (container "c" must not set securityContext.runAsNonRoot=false), runAsUser=0 (container "c" must not set runAsUser=0)',
  ],
  ["restricted", "latest", { ...restricted({ runAsNonRoot: false, runAsUser: 0 }), hostUsers: false }, ""],
  [
    "restricted",
    "latest",
    { containers: [{ ...plain, securityContext: { runAsNonRoot: true } }], os: { name: "windows" } },
    "",
  ],
  [
    "restricted",
    "v1.99",
    { containers: [{ ...hardened, securityContext: { ...hardened.securityContext, procMount: "Unmasked" } }] },
    'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
  ],
];
for (const [level, version, spec, want] of rules) {
  test(`${level}:${version} reports for a pod: ${want || "nothing"}`, () => {
    expect(detailsOf(violations({ level, version }, examined(spec)))).toBe(want);
  });
}

test("before 1.19, seccomp profiles were annotations", () => {
  const pod18 = examined({ containers: [plain] }, { "seccomp.security.alpha.kubernetes.io/pod": "unconfined" });

  expect(detailsOf(violations({ level: "baseline", version: "v1.18" }, pod18))).toBe(
    'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")',
  );
});

test("AppArmor profiles may still be annotations", () => {
  const annotated = examined(
    { containers: [plain] },
    { "container.apparmor.security.beta.kubernetes.io/c": "unconfined" },
  );

  expect(detailsOf(violations({ level: "baseline", version: "latest" }, annotated))).toBe(
    'forbidden AppArmor profile (annotation must not set AppArmor profile type to "container.apparmor.security.beta.kubernetes.io/c="unconfined"")',
  );
});
