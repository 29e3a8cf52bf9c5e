/**
 * `flotilla why`: why a resource is where it is. The hub explains what has a binding, Placements and works, and what
 * works bring to members; what no policy selects is explained from a snapshot.
 */
import { bindingName, parseApiVersion } from "../../api/index.ts";
import { FlotillaError, UsageError } from "../../base/index.ts";
import type { Clock, DeepReadonly, Json } from "../../base/index.ts";
import { find } from "../../client/index.ts";
import type { AnyKind, Client } from "../../client/index.ts";
import { ClusterExplanation, Explanation } from "../../explain/index.ts";
import { defineCommand } from "../command.ts";
import { renderWhy } from "../explain/render-why.ts";
import { resolveType } from "../explain/resolve-type.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";

const OCM_DOMAIN = "open-cluster-management.io";
/** Groups with what Karmada keeps on its hub. */
const HUBS_OWN: ReadonlySet<string> = new Set([
  "cluster.karmada.io",
  "config.karmada.io",
  "policy.karmada.io",
  "work.karmada.io",
]);

export const whyCommand = defineCommand({
  name: "why",
  summary: "say why a resource is where it is, what its members say, and what to do",
  details:
    "Which policy matched, each cluster kept or refused with the reason, what each member got and says of it, what moved, what is wrong and what to do. Also of Placements, ManifestWorks and ManifestWorkReplicaSets, and of objects that ManifestWorks bring to members.",
  example: [
    { says: "Why is this where it is?", run: "flotilla why deployment/web" },
    { says: "The same, of a workload in another namespace.", run: "flotilla why cloneset web -n shop" },
    { says: "Which clusters does a Placement choose, and why?", run: "flotilla why placement/web -n shop" },
    { says: "What became of a ManifestWork?", run: "flotilla why manifestwork/web -n member1" },
    { says: "All of it, for a program to read.", run: "flotilla why clusterrole/reader -o json" },
  ],
  args: [
    {
      name: "TYPE/NAME",
      description: "the resource as kubectl names it, or its TYPE",
      required: true,
      completes: "resource",
    },
    { name: "NAME", description: "its name, when only the TYPE came before", required: false, completes: "name" },
  ],
  flags: {
    namespace: {
      type: "string",
      short: "n",
      value: "NS",
      default: "default",
      description: "the namespace of the resource",
    },
    ...hubFlags,
  },
  async run({ args, flags, output, signal, clock, connect, environment }) {
    const { type, name } = readResource(args);
    const { client, close } = await connect(hubKubeconfig(flags, environment));
    try {
      const kind = await resolveType(client, type, signal);
      const where = kind.scope === "Namespaced" ? { namespace: flags.namespace, name } : { name };
      const explanation = await explained(client, kind, where, clock, signal);
      output.result(explanation as unknown as Json, () => renderWhy(explanation, output.width));
    } finally {
      await close();
    }
  },
});

export function readResource([first = "", second]: readonly string[]): { type: string; name: string } {
  const slash = first.indexOf("/");
  const [type, name] = slash < 0 ? [first, second] : [first.slice(0, slash), first.slice(slash + 1)];
  if (!type || !name || (slash >= 0 && second !== undefined))
    throw new UsageError("name one resource: 'flotilla why deployment/web' or 'flotilla why deployment web'");
  return { type, name };
}

async function explained(
  client: Client,
  kind: AnyKind,
  where: { namespace?: string; name: string },
  clock: Clock,
  signal: AbortSignal,
): Promise<DeepReadonly<Explanation>> {
  const key = { cluster: "hub", ...where };
  const known = await find(
    client,
    where.namespace ? Explanation : ClusterExplanation,
    { ...key, name: bindingName(kind.kind, where.name) },
    { signal },
  );
  // Another group may have a kind of this name; its binding then has the same name.
  if (known && parseApiVersion(known.resource.apiVersion).group === kind.group) return known;
  const template = await find(client, kind, key, { signal });
  if (!template)
    throw new FlotillaError(
      "NotFound",
      `there is no ${kind.kind} ${where.name}${where.namespace ? ` in namespace ${where.namespace}` : ""} on the hub, and no ManifestWork brings one to members`,
    );
  // These are never templates, so policies have nothing to say of them.
  if (kind.group.endsWith(OCM_DOMAIN))
    throw new UsageError(
      `nothing decides where a ${kind.kind} is; of Open Cluster Management's kinds, Placement, ManifestWork and ManifestWorkReplicaSet are explained, and 'flotilla status' shows clusters`,
    );
  if (HUBS_OWN.has(kind.group))
    throw new UsageError(
      `a ${kind.kind} is the hub's own and never propagated, so nothing decides where it is; ask about a resource that is, and 'flotilla status' shows members`,
    );
  const { explainUnbound } = await import("../explain/explain-unbound.ts");
  return explainUnbound(client, template, clock, signal);
}
