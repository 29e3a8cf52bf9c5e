/**
 * What a write costs with admission webhooks and policies, compared with a real kube-apiserver with etcd: same client, same
 * webhook server, same objects. Rounds alternate between the two, and the median of three is reported.
 */
import { existsSync } from "node:fs";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import { systemClock } from "@flotilla/base";
import { connectApi } from "../../test/programs/api-client.ts";
import type { ApiConnection } from "../../test/programs/api-client.ts";
import { median, startOwnApiServer } from "./apiserver.ts";
import type { Benchmark } from "./benchmark.ts";
import { realBinaries, startKube } from "../../test/programs/kube.ts";
import { costOf, EMITTED } from "./process.ts";
import { compare, expect, rate } from "./target.ts";
import type { Target } from "./target.ts";

const ROUNDS = 3;
const REGISTRATION = "/apis/admissionregistration.k8s.io/v1";
const LABEL = "bench-admission";
const PLACE_LIMIT_MS = 60_000;

interface Setup {
  name: string;
  webhooks: number;
  policies: number;
}
const SETUPS: readonly Setup[] = [
  { name: "no admission", webhooks: 0, policies: 0 },
  { name: "1 webhook", webhooks: 1, policies: 0 },
  { name: "5 webhooks", webhooks: 5, policies: 0 },
  { name: "20 policies", webhooks: 0, policies: 20 },
];

export const admission: Benchmark = {
  name: "admission",
  summary: "creates with admission webhooks and policies",
  counts: { full: 1000, short: 200 },
  async run({ count, progress }) {
    const binaries = realBinaries();
    if (!binaries) progress("kube-apiserver and etcd are not in $REAL_BIN; measuring only Flotilla");
    if (!existsSync(EMITTED)) throw new Error("the benchmark measures the emitted build; run 'npm run build' first");
    const hooks = await startWebhooks();
    const own = await startOwnApiServer();
    const kube = binaries ? await startKube(binaries) : undefined;
    const targets: Target[] = [own, ...(kube ? [{ name: "kube-apiserver", ...kube }] : [])];
    const rounds = targets.map(() => new Map<string, number[]>());
    try {
      for (let round = 0; round < ROUNDS; round++)
        for (const setup of SETUPS)
          for (const [index, target] of targets.entries()) {
            progress(`round ${round + 1} of ${ROUNDS}, ${setup.name} on ${target.name}`);
            const measured = await measureSetup(target, setup, { hooks, namespace: `${LABEL}-${round}`, count });
            for (const [name, value] of Object.entries(measured)) {
              const known = rounds[index]?.get(name) ?? [];
              rounds[index]?.set(name, [...known, value]);
            }
          }
      return [...(rounds[0]?.keys() ?? [])].flatMap((name) =>
        compare(
          name,
          name.endsWith("CPU") ? "µs" : name.endsWith("rate") ? "per second" : "ms",
          name.endsWith("rate") ? "more" : "less",
          rounds.map((measured) => median(measured.get(name) ?? [])),
        ),
      );
    } finally {
      for (const target of targets) await target.stop();
      hooks.stop();
    }
  },
};

async function measureSetup(
  { kubeconfig, pids }: Target,
  { name, webhooks, policies }: Setup,
  { hooks, namespace, count }: { hooks: Webhooks; namespace: string; count: number },
): Promise<Record<string, number>> {
  const api = await connectApi(kubeconfig);
  const maps = `/api/v1/namespaces/${namespace}-${name.replaceAll(" ", "-")}/configmaps`;
  const create = (index: string): Promise<void> => expect(api, 201, "POST", maps, mapBody(`m-${index}`));
  const [, , , , own = ""] = maps.split("/");
  try {
    await expect(api, 201, "POST", "/api/v1/namespaces", JSON.stringify({ metadata: { name: own } }));
    if (webhooks > 0)
      await place(api, `${REGISTRATION}/validatingwebhookconfigurations`, hooks.configuration(webhooks));
    for (let index = 0; index < policies; index++)
      for (const [plural, body] of policyBodies(index)) await place(api, `${REGISTRATION}/${plural}`, body);
    await inForce(api, maps, { webhooks, policies, hooks });
    for (let index = 0; index < 50; index++) await create(`warm-${index}`);
    const times: number[] = [];
    for (let index = 0; index < count; index++) {
      const started = performance.now();
      await create(`one-${index}`);
      times.push(performance.now() - started);
    }
    times.sort((a, b) => a - b);
    const before = costOf(pids).cpuSeconds;
    const perSecond = await rate(count, (index) => create(`many-${index}`));
    const cpu = costOf(pids).cpuSeconds - before;
    return {
      [`${name}, p50`]: times[Math.floor(count / 2)] ?? NaN,
      [`${name}, p99`]: times[Math.floor(count * 0.99)] ?? NaN,
      [`${name}, rate`]: perSecond,
      [`${name}, CPU`]: (cpu / count) * 1e6,
    };
  } finally {
    for (const plural of ["validatingwebhookconfigurations", ...policyBodies(0).map(([kind]) => kind)])
      await expect(api, 200, "DELETE", `${REGISTRATION}/${plural}?labelSelector=${LABEL}`);
    // Until they are no longer in force.
    await delay(webhooks + policies > 0 ? 2000 : 0);
    api.close();
  }
}

const place = (api: ApiConnection, path: string, body: object): Promise<void> =>
  expect(api, 201, "POST", path, JSON.stringify(body));

/** Both servers apply a configuration shortly after it is written. */
async function inForce(
  api: ApiConnection,
  maps: string,
  { webhooks, policies, hooks }: { webhooks: number; policies: number; hooks: Webhooks },
): Promise<void> {
  const isSo = async (): Promise<boolean> => {
    const calls = hooks.calls();
    await api.call("POST", `${maps}?dryRun=All`, mapBody("allowed"));
    if (hooks.calls() - calls < webhooks) return false;
    for (let index = 0; index < policies; index++)
      if ((await api.call("POST", `${maps}?dryRun=All`, mapBody(`denied-${index}`))).status !== 422) return false;
    return true;
  };
  const endMs = performance.now() + PLACE_LIMIT_MS;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error("webhooks or policies did not come into force");
    await delay(100);
  }
}

const RULES = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }];

function policyBodies(index: number): [plural: string, body: object][] {
  const metadata = { name: `${LABEL}-${index}`, labels: { [LABEL]: "" } };
  const apiVersion = "admissionregistration.k8s.io/v1";
  return [
    [
      "validatingadmissionpolicies",
      {
        apiVersion,
        kind: "ValidatingAdmissionPolicy",
        metadata,
        spec: {
          matchConstraints: { resourceRules: RULES },
          validations: [
            {
              expression: `object.metadata.name != 'denied-${index}' && object.data.all(k, size(object.data[k]) < 2000)`,
            },
          ],
        },
      },
    ],
    [
      "validatingadmissionpolicybindings",
      {
        apiVersion,
        kind: "ValidatingAdmissionPolicyBinding",
        metadata,
        spec: { policyName: metadata.name, validationActions: ["Deny"] },
      },
    ],
  ];
}

interface Webhooks {
  calls(): number;
  configuration(count: number): object;
  stop(): void;
}

/** A server that allows everything, over HTTP/2 for clients that want it. */
async function startWebhooks(): Promise<Webhooks> {
  const authority = await createCertificateAuthority({ clock: systemClock });
  const { certificate, key } = await authority.issueServing(["localhost"]);
  let calls = 0;
  const server = http2.createSecureServer({ cert: certificate, key, allowHTTP1: true }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      calls++;
      const {
        apiVersion,
        kind,
        request: asked,
      } = JSON.parse(Buffer.concat(chunks).toString()) as {
        apiVersion: string;
        kind: string;
        request: { uid: string };
      };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ apiVersion, kind, response: { uid: asked.uid, allowed: true } }));
    });
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    calls: () => calls,
    configuration: (count) => ({
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: LABEL, labels: { [LABEL]: "" } },
      webhooks: Array.from({ length: count }, (_, index) => ({
        name: `hook${index}.example.com`,
        clientConfig: {
          url: `https://localhost:${port}/${index}`,
          caBundle: Buffer.from(authority.certificate).toString("base64"),
        },
        rules: RULES,
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
      })),
    }),
    stop: () => void server.close(),
  };
}

const mapBody = (name: string): string =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { k: "x".repeat(1000) } });
