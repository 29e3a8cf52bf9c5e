import { expect, test } from "vitest";
import { FlotillaError, systemClock } from "@flotilla/base";
import type { Client, RawRequest } from "@flotilla/client";
import type { HubConnection } from "../command.ts";
import { commands } from "../commands.ts";
import { completeLine } from "./complete.ts";
import type { CompletionReach } from "./complete.ts";

const listOf = (...names: string[]): unknown => ({
  kind: "PartialObjectMetadataList",
  items: names.map((name) => ({ metadata: { name } })),
});
const resource = (kind: string, plural: string, scope: "Namespaced" | "Cluster"): unknown => ({
  resource: plural,
  responseKind: { kind },
  scope,
  singularResource: kind.toLowerCase(),
  verbs: ["get", "list"],
});
const answers: Record<string, unknown> = {
  "/api": {
    kind: "APIGroupDiscoveryList",
    items: [
      {
        metadata: {},
        versions: [
          {
            version: "v1",
            resources: [resource("Pod", "pods", "Namespaced"), resource("Namespace", "namespaces", "Cluster")],
          },
        ],
      },
    ],
  },
  "/apis": {
    kind: "APIGroupDiscoveryList",
    items: [
      {
        metadata: { name: "apps" },
        versions: [{ version: "v1", resources: [resource("StatefulSet", "statefulsets", "Namespaced")] }],
      },
      {
        metadata: { name: "apps.kruise.io" },
        versions: [
          {
            version: "v1beta1",
            resources: [
              resource("StatefulSet", "statefulsets", "Namespaced"),
              resource("CloneSet", "clonesets", "Namespaced"),
            ],
          },
        ],
      },
    ],
  },
  "/api/v1/namespaces": listOf("default", "shop"),
  "/apis/cluster.karmada.io/v1alpha1/clusters": listOf("member1", "member10", "member2"),
  "/apis/cluster.open-cluster-management.io/v1/managedclusters": listOf("member1", "waiting"),
  "/apis/apps.kruise.io/v1beta1/namespaces/shop/clonesets": listOf("web", "cart"),
  "/apis/cluster.karmada.io/v1alpha1/clusters/member2/proxy/apis/apps.kruise.io/v1beta1/namespaces/shop/clonesets":
    listOf("old\u0007\nname"),
};

function createReach(
  options: { hub?: Partial<HubConnection>; failure?: Error } = {},
): CompletionReach & { complaints: unknown[]; kubeconfigs: string[] } {
  const complaints: unknown[] = [];
  const kubeconfigs: string[] = [];
  const raw = (request: RawRequest): ReturnType<Client["raw"]> => {
    const answer = answers[request.path.split("?")[0] ?? ""];
    const text = JSON.stringify(answer ?? { kind: "Status", message: "not found", code: 404 });
    return Promise.resolve({
      status: answer ? 200 : 404,
      headers: {},
      body: (async function* () {
        yield Buffer.from(await Promise.resolve(text));
      })(),
    });
  };
  return {
    complaints,
    kubeconfigs,
    environment: { HOME: "/home/ann" },
    clock: systemClock,
    signal: new AbortController().signal,
    readFile: () =>
      Promise.resolve("contexts: [{name: kind, context: {cluster: kind}}, {name: prod, context: {cluster: eu}}]"),
    complain: (error) => complaints.push(error),
    connect(access) {
      kubeconfigs.push(...access.kubeconfigs);
      if (options.failure) return Promise.reject(options.failure);
      return Promise.resolve({
        client: { raw } as unknown as Client,
        server: "",
        upgrade: () => Promise.reject(new Error("not called")),
        close: () => Promise.resolve(),
        ...options.hub,
      });
    },
  };
}

const cases: Record<string, { line: string; want: string }> = {
  "commands are offered with their summaries after a tab": {
    line: "vers",
    want: "version\tprint the version of flotilla and of the Kubernetes API that it serves\n:4\n",
  },
  "help is completed with commands": {
    line: "help vers",
    want: "version\tprint the version of flotilla and of the Kubernetes API that it serves\n:4\n",
  },
  "files are completed by the shell": { line: "plan -f ", want: ":0\n" },
  "folders are completed by the shell": { line: "status --data ", want: ":16\n" },
  "an unknown command offers nothing": { line: "frobnicate ", want: ":4\n" },
  "namespaces come from the hub": { line: "why -n s", want: "shop\n:4\n" },
  "members come from Clusters and ManagedClusters": {
    line: "unjoin ",
    want: "member1\nmember2\nmember10\nwaiting\n:4\n",
  },
  "a list of members is completed after a comma": {
    line: "adopt cloneset web --from member1,member",
    want: "member1,member2\nmember1,member10\n:4\n",
  },
  "types carry their group where the short name is ambiguous": {
    line: "why s",
    want: "statefulsets\nstatefulsets.apps.kruise.io\n:4\n",
  },
  "names are those of the preceding type": { line: "why cloneset -n shop w", want: "web\n:4\n" },
  "names after a slash keep their type": {
    line: "why -n shop clonesets/",
    want: "clonesets/web\nclonesets/cart\n:4\n",
  },
  "names come from the member given by --clusters, with control characters replaced": {
    line: "adopt cloneset --from=member2 -n=shop ",
    want: "old name\ton member2\n:4\n",
  },
  "contexts come from the named kubeconfig": {
    line: "join oslo --cluster-kubeconfig x --cluster-context p",
    want: "prod\tcluster eu\n:4\n",
  },
  "contexts of the hub come from its kubeconfig": {
    line: "status --kubeconfig x --context k",
    want: "kind\tcluster kind\n:4\n",
  },
};
for (const [behaviour, { line, want }] of Object.entries(cases)) {
  test(behaviour, async () => {
    expect(await completeLine(commands, line.split(" "), createReach())).toBe(want);
  });
}

test("the hub is the one that the command line names", async () => {
  const reach = createReach();

  await completeLine(commands, ["why", "--data", "./fleet", "-n", ""], reach);
  await completeLine(commands, ["why", "-n", ""], reach);

  expect(reach.kubeconfigs).toEqual(["fleet/hub.kubeconfig", "/home/ann/.flotilla/hub.kubeconfig"]);
});

test("an unreachable hub offers nothing, silently", async () => {
  const failure = new FlotillaError("NoKubeconfig", "no kubeconfig");
  const reach = createReach({ failure });

  expect(await completeLine(commands, ["why", "-n", ""], reach)).toBe(":4\n");
  expect(reach.complaints).toEqual([failure]);
});

test("names come from the namespace of the kubeconfig's context without -n", async () => {
  const reach = createReach({ hub: { namespace: "shop" } });

  expect(await completeLine(commands, ["why", "cloneset/"], reach)).toBe("cloneset/web\ncloneset/cart\n:4\n");
});
