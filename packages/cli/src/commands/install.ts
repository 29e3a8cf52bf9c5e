/** `flotilla install`: makes an existing Kubernetes cluster a hub. */
import { formatYaml, HUB } from "@flotilla/apimachinery";
import { FlotillaError, UsageError, VERSION } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import { INSTALL_NAMESPACE, installedKinds, manifestsOfInstall, planInstall } from "@flotilla/flotilla";
import type { InstallOptions } from "@flotilla/flotilla";
import { defineCommand } from "../command.ts";
import { accountKubeconfigs } from "../install/account-kubeconfigs.ts";
import { applyInstall } from "../install/apply-install.ts";
import type { ObjectChange } from "../install/apply-install.ts";
import { checkInstall } from "../install/check-install.ts";
import { readClusterFacts } from "../install/cluster-facts.ts";
import { addressIn, projectsIn } from "../install/install-options.ts";
import { migrateVersions } from "../install/migrate-versions.ts";
import { waitInstalled } from "../install/wait-installed.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";
import { namesIn } from "./serve-flags.ts";

export const installCommand = defineCommand({
  name: "install",
  summary: "make an existing Kubernetes cluster a hub: its API server keeps the objects",
  details:
    "Adds the kinds of Karmada and Open Cluster Management to a cluster, our rules as webhooks and " +
    "admission policies, the accounts, and two Deployments: the controllers, and the webhooks with the " +
    "proxy of Clusters. Run it again to upgrade, to downgrade by one minor version, or to change an " +
    "option; what the version no longer has is removed. Workloads on members are not touched. On a cluster " +
    "that runs workloads itself, its own controllers also run the templates that you apply there; see the " +
    "guide.",
  example: [
    { says: "Show what would be changed.", run: "flotilla install --kubeconfig cluster.kubeconfig --dry-run" },
    {
      says: "Install with an image of your registry.",
      run: "flotilla install --kubeconfig cluster.kubeconfig --image registry.example.com/flotilla:0.1.0",
    },
    { says: "Print the manifests, for example for a repository.", run: "flotilla install --print > flotilla.yaml" },
    {
      says: "Run the programs yourself, on a machine that the API server reaches.",
      run: "flotilla install --kubeconfig cluster.kubeconfig --address hub.example.com:9443 --accounts ./accounts",
    },
  ],
  args: [],
  flags: {
    image: {
      type: "string",
      value: "IMAGE",
      description: `image of the programs, built from the Dockerfile (default flotilla:${VERSION})`,
    },
    replicas: {
      type: "integer",
      value: "N",
      default: 2,
      minimum: 1,
      maximum: 20,
      description: "pods of the controllers, of which one leads, and of the webhooks",
    },
    workloads: {
      type: "string",
      value: "A,B",
      default: "openkruise,argo",
      description: "projects whose kinds the hub stores as templates: openkruise, argo, or none",
    },
    address: {
      type: "string",
      value: "HOST:PORT",
      description: "run no pods: the API server reaches 'flotilla webhooks' at this DNS name",
    },
    accounts: {
      type: "string",
      value: "DIR",
      completes: "directory",
      description: "with --address: write kubeconfigs for 'flotilla controllers' and 'flotilla webhooks' there",
    },
    "proxy-users": {
      type: "string",
      value: "A,B",
      description: "users that may use the proxy of every Cluster (default: you)",
    },
    namespace: { type: "string", value: "NS", default: INSTALL_NAMESPACE, description: "namespace of the programs" },
    wait: {
      type: "integer",
      value: "SECONDS",
      default: 180,
      maximum: 3600,
      description: "how long to wait until the programs run; 0 does not wait (with --address: not, by default)",
    },
    print: { type: "boolean", description: "print the manifests, and contact no cluster" },
    "dry-run": { type: "boolean", description: "show what would change, and change nothing" },
    "in-cluster": { type: "boolean", description: "use the service account of this pod" },
    ...hubFlags,
  },
  async run({ flags, output, signal, clock, connectCluster, environment, writeFile }) {
    const address = addressIn(flags.address);
    if (address && flags.image !== undefined) throw new UsageError("--image and --address exclude each other");
    if (flags.accounts !== undefined && !address) throw new UsageError("--accounts needs --address");
    const options: InstallOptions = {
      namespace: flags.namespace,
      projects: projectsIn(flags.workloads),
      image: address ? undefined : (flags.image ?? `flotilla:${VERSION}`),
      replicas: flags.replicas,
      address,
      isAggregated: true,
      proxyUsers: namesIn(flags["proxy-users"]) ?? [],
    };
    if (flags.print) {
      const manifests = manifestsOfInstall(planInstall(options));
      output.result(manifests as Json, () =>
        manifests
          .map((manifest) => formatYaml(manifest))
          .join("---\n")
          .trimEnd(),
      );
      return;
    }
    const access = flags["in-cluster"] ? { kubeconfigs: [], isInCluster: true } : hubKubeconfig(flags, environment);
    const cluster = await connectCluster(access, HUB);
    try {
      const { client, server, ca } = cluster;
      const tools = { client, clock, signal, progress: (text: string) => output.progress(text) };
      output.progress("reading the cluster");
      const facts = await readClusterFacts(client, options.namespace, signal);
      const { problems, notes, projects } = checkInstall(facts, options.projects);
      const [problem] = problems;
      if (problem !== undefined)
        throw new FlotillaError("Install", `${problems.join(". Also: ")}; nothing was changed`);
      for (const note of notes) output.warn(`note: ${note}`);
      const wanted: InstallOptions = {
        ...options,
        projects,
        isAggregated: facts.hasFrontProxy,
        proxyUsers: flags["proxy-users"] === undefined && facts.user !== undefined ? [facts.user] : options.proxyUsers,
      };
      const changes = await applyInstall(planInstall(wanted), tools, flags["dry-run"]);
      const written: string[] = [];
      if (flags.accounts !== undefined && !flags["dry-run"])
        for (const { file, text } of await accountKubeconfigs(
          client,
          { namespace: wanted.namespace, server, ca },
          signal,
        )) {
          await writeFile(`${flags.accounts}/${file}`, text);
          written.push(`${flags.accounts}/${file}`);
        }
      let missing: string | undefined;
      let rewritten = 0;
      const waits = flags.wait > 0 && !address && !flags["dry-run"];
      if (waits) missing = await waitInstalled(wanted, tools, flags.wait * 1000);
      if (!flags["dry-run"] && missing === undefined)
        rewritten = await migrateVersions(
          new Set(installedKinds(wanted.projects).map(({ plural, group }) => `${plural}.${group}`)),
          tools,
        );
      output.result(
        {
          server,
          version: VERSION,
          before: facts.installed ?? null,
          dryRun: flags["dry-run"],
          changes: changes.map((change) => ({ ...change, namespace: change.namespace ?? null })),
          rewritten,
          accounts: written,
          running: waits ? missing === undefined : null,
        },
        () =>
          renderInstalled({ server, before: facts.installed, isDryRun: flags["dry-run"], changes, written, address }),
      );
      if (missing !== undefined)
        throw new FlotillaError(
          "Install",
          `everything is applied, but ${missing} after ${flags.wait} s; look at the pods in the namespace ${wanted.namespace}, and run the command again`,
        );
    } finally {
      await cluster.close();
    }
  },
});

interface Installed {
  server: string;
  before: string | undefined;
  isDryRun: boolean;
  changes: readonly ObjectChange[];
  written: readonly string[];
  address: { host: string; port: number } | undefined;
}

const MAX_SHOWN = 200;

/** Pure. */
function renderInstalled(given: Installed): string {
  const { server, before, isDryRun, changes, written, address } = given;
  const count = (change: ObjectChange["change"]): number => changes.filter((each) => each.change === change).length;
  const summary = (["created", "changed", "removed", "unchanged"] as const)
    .filter((change) => count(change) > 0)
    .map((change) => `${count(change)} ${change}`)
    .join(", ");
  const differing = changes.filter(({ change }) => change !== "unchanged");
  const lines = isDryRun
    ? differing
        .slice(0, MAX_SHOWN)
        .map(
          ({ kind, namespace, name, change }) =>
            `  ${change.padEnd(8)} ${kind} ${namespace ? `${namespace}/` : ""}${name}`,
        )
    : [];
  const from = before === undefined ? "" : before === VERSION ? "" : ` (before: ${before})`;
  return [
    ...lines,
    ...(lines.length > 0 ? [""] : []),
    isDryRun
      ? `flotilla ${VERSION}${from} on ${server}: ${summary}. Nothing was changed (--dry-run).`
      : `flotilla ${VERSION}${from} is installed on ${server}: ${summary}`,
    ...(address && !isDryRun
      ? [
          "",
          `Now run, on a machine that the API server reaches as ${address.host}:`,
          `  flotilla webhooks --kubeconfig ${written[1] ?? "FILE"} --port ${address.port} --bind-address 0.0.0.0`,
          `  flotilla controllers --kubeconfig ${written[0] ?? "FILE"}`,
        ]
      : []),
  ].join("\n");
}
