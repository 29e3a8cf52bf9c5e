/**
 * `flotilla why`: explains why a resource is where it is. The hub explains resources with a binding, Placements and
 * works, and the objects that works apply to members; resources that no policy selects are explained from a snapshot.
 */
import { parseApiVersion, HUB } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { FlotillaError, UsageError } from "@flotilla/base";
import type { Clock, DeepReadonly, Json } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { AnyKind, Client } from "@flotilla/client";
import { ClusterExplanation, Explanation, FleetRollout } from "@flotilla/flotilla";
import { defineCommand } from "../command.ts";
import { renderWhy } from "../explain/render-why.ts";
import { resolveNamed } from "../explain/resolve-type.ts";
import { chosenNamespace, namespaceFlag } from "../members/namespace-flag.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";
import { bindingName, FederatedHpa } from "@flotilla/karmada";

const OCM_DOMAIN = "open-cluster-management.io";
/** API groups of Karmada's own hub objects. */
const HUBS_OWN: ReadonlySet<string> = new Set([
  "cluster.karmada.io",
  "config.karmada.io",
  "policy.karmada.io",
  "work.karmada.io",
]);

export const whyCommand = defineCommand({
  name: "why",
  summary: "explain why a resource is where it is, what its members report, and what to do",
  details:
    "Shows which policy matched, which clusters were selected or excluded and why, what each member got " +
    "and reports, what moved, what is wrong and what to do. Pods that do not run are read from the " +
    "members, with their reasons. For a release it shows the waves, and why a member still has the old " +
    "revision; for an autoscaled workload it shows the last scaling. Also explains Placements, ManifestWorks and " +
    "ManifestWorkReplicaSets, and objects that ManifestWorks apply to members.",
  example: [
    { says: "Explain where a Deployment runs.", run: "flotilla why deployment/web" },
    { says: "Explain a workload in another namespace.", run: "flotilla why cloneset web -n shop" },
    { says: "Explain which clusters a Placement selects.", run: "flotilla why placement/web -n shop" },
    { says: "Explain the state of a ManifestWork.", run: "flotilla why manifestwork/web -n member1" },
    { says: "Print the full explanation as JSON.", run: "flotilla why clusterrole/reader -o json" },
  ],
  args: [
    {
      name: "TYPE/NAME",
      description: "the resource as in kubectl, or its TYPE",
      required: true,
      completes: "resource",
    },
    { name: "NAME", description: "its name, if the first argument is only a TYPE", required: false, completes: "name" },
  ],
  flags: {
    ...namespaceFlag,
    ...hubFlags,
  },
  async run({ args, flags, output, signal, clock, connect, environment }) {
    const { type, name } = readResource(args);
    const hub = await connect(hubKubeconfig(flags, environment));
    const { client } = hub;
    const namespace = chosenNamespace(flags, hub);
    try {
      const explanation = await readWhy({ type, name, namespace }, { client, clock, signal, notify: output.warn });
      output.result(explanation as unknown as Json, () => renderWhy(explanation, output.width));
    } finally {
      await hub.close();
    }
  },
});

/** The explanation of the hub, with what the pods on the members report. `notify` is called with a warning. */
export async function readWhy(
  { type, name, namespace }: { type: string; name: string; namespace: string },
  { client, clock, signal, notify }: WhyQuestion,
): Promise<DeepReadonly<Explanation>> {
  const kinds = await resolveNamed(client, { type, name, namespace }, signal, notify);
  const found = await explainedAs(client, kinds, { namespace, name }, clock, signal);
  const { lookAtCopies } = await import("../explain/look-at-copies.ts");
  return lookAtCopies(found, { client, clock, signal });
}

interface WhyQuestion {
  client: Client;
  clock: Clock;
  signal: AbortSignal;
  notify?(text: string): void;
}

function readResource([first = "", second]: readonly string[]): { type: string; name: string } {
  const slash = first.indexOf("/");
  const [type, name] = slash < 0 ? [first, second] : [first.slice(0, slash), first.slice(slash + 1)];
  if (!type || !name || (slash >= 0 && second !== undefined))
    throw new UsageError("specify one resource: 'flotilla why deployment/web' or 'flotilla why deployment web'");
  return { type, name };
}

/** Where the hub has no such object in any group, a ManifestWork may deliver one in any of them. */
async function explainedAs(
  client: Client,
  kinds: readonly [AnyKind, ...AnyKind[]],
  { namespace, name }: { namespace: string; name: string },
  clock: Clock,
  signal: AbortSignal,
): Promise<DeepReadonly<Explanation>> {
  let missing: unknown;
  for (const kind of kinds) {
    try {
      const where = kind.scope === "Namespaced" ? { namespace, name } : { name };
      return await explained(client, kind, where, clock, signal);
    } catch (error) {
      if (!(error instanceof FlotillaError) || error.code !== "NotFound") throw error;
      missing ??= error;
    }
  }
  const [first, ...others] = kinds;
  if (others.length === 0) throw missing;
  const groups = [first, ...others].map(({ group }) => group || "the core group").join(", ");
  throw new FlotillaError("NotFound", `${(missing as FlotillaError).message} (looked for it in ${groups})`);
}

async function explained(
  client: Client,
  kind: AnyKind,
  where: { namespace?: string; name: string },
  clock: Clock,
  signal: AbortSignal,
): Promise<DeepReadonly<Explanation>> {
  const key = { cluster: HUB, ...where };
  const known = await find(
    client,
    where.namespace ? Explanation : ClusterExplanation,
    { ...key, name: bindingName(kind.kind, where.name) },
    { signal },
  );
  // A kind of the same name in another group would have the same binding name.
  if (known && parseApiVersion(known.resource.apiVersion).group === kind.group) return known;
  const template = await find(client, kind, key, { signal });
  if (!template) {
    const what = `${kind.kind} ${where.name}${where.namespace ? ` in namespace ${where.namespace}` : ""}`;
    const [{ findRemaining }, { nearestObject }] = await Promise.all([
      import("../explain/wait-gone.ts"),
      import("../explain/nearest-object.ts"),
    ]);
    const remaining = await findRemaining(client, { kind, ...where }, signal);
    if (remaining !== undefined)
      throw new FlotillaError("NotFound", `${what} not found on the hub, but still ${remaining}`);
    throw new FlotillaError(
      "NotFound",
      `${what} not found on the hub, and no ManifestWork applies one to members${await nearestObject(client, { kind, ...where }, "why", signal)}`,
    );
  }
  // These are never templates, so policies do not apply to them.
  if (kind.group.endsWith(OCM_DOMAIN))
    throw new UsageError(
      `a ${kind.kind} is not scheduled; of Open Cluster Management's kinds, Placement, ManifestWork and ` +
        "ManifestWorkReplicaSet can be explained; run 'flotilla status' for clusters",
    );
  const directed = directionOf(kind, template);
  if (directed !== undefined) throw new UsageError(directed);
  if (HUBS_OWN.has(kind.group))
    throw new UsageError(
      `a ${kind.kind} is a hub object and is never propagated; specify a resource that is propagated, or run 'flotilla status' for members`,
    );
  const { explainUnbound } = await import("../explain/explain-unbound.ts");
  return explainUnbound(client, template, clock, signal);
}

type Directed = DeepReadonly<KubernetesObject> & {
  readonly spec?: { readonly scaleTargetRef?: Target; readonly target?: Target };
};
interface Target {
  readonly kind: string;
  readonly name: string;
}

/** Objects of the hub that are about another object, where they are explained. */
function directionOf({ group, kind }: AnyKind, { metadata, spec }: Directed): string | undefined {
  const target = group === FederatedHpa.group ? spec?.scaleTargetRef : spec?.target;
  if (group !== FederatedHpa.group && group !== FleetRollout.group) return undefined;
  const where = metadata.namespace ? ` -n ${metadata.namespace}` : "";
  return target
    ? `a ${kind} is a hub object and is explained with its target: run 'flotilla why ${target.kind.toLowerCase()}/${target.name}${where}'`
    : `a ${kind} is a hub object and is never propagated; run 'flotilla doctor --only releases' to check it`;
}
