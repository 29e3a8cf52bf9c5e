/** Open Cluster Management: placements, what they chose, and the works that follow from them. */
import type { ComponentChildren } from "preact";
import type { ViewProps } from "../view.ts";
import { useFleet } from "../fleet-store.ts";
import { t } from "../i18n.ts";
import { Bar } from "../parts/bar.tsx";
import { Command } from "../parts/command.tsx";
import { Glyph } from "../parts/glyph.tsx";
import type { Tone } from "../parts/glyph.tsx";
import { useLoaded } from "../parts/hooks.ts";
import { Empty, Failed, Loading } from "../parts/states.tsx";
import { href } from "../router.ts";
import { hub, request } from "../session.ts";
import { Why } from "./why.tsx";
import type { Explanation } from "./why.tsx";

const ROOT = "/apis/cluster.open-cluster-management.io";
const WORK = "/apis/work.open-cluster-management.io";

interface Named {
  metadata: { name: string; namespace: string; labels?: Record<string, string> };
}
interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}
interface Placement extends Named {
  spec: { numberOfClusters?: number; clusterSets?: string[] };
  status?: { numberOfSelectedClusters?: number; conditions?: Condition[] };
}
interface Decision extends Named {
  status?: { decisions?: { clusterName: string; reason: string }[] };
}
interface ReplicaSet extends Named {
  spec: { placementRefs: { name: string; rolloutStrategy?: { type?: string } }[] };
  status?: { summary?: Record<string, number>; conditions?: Condition[] };
}
interface Work extends Named {
  spec: { workload?: { manifests?: { kind: string; metadata: { name: string } }[] } };
  status?: { conditions?: Condition[] };
}
interface Everything {
  placements: Placement[];
  decisions: Decision[];
  sets: ReplicaSet[];
  works: Work[];
}

const list = <T,>(path: string, signal: AbortSignal): Promise<T[]> =>
  hub<{ items: T[] }>(`${path}?limit=500`, { signal }).then(({ items }) => items);

export function OcmView({ route }: ViewProps) {
  const fleet = useFleet();
  // Members and findings change with decisions and works; the lists are read again then, not more often.
  const { value, error, reload } = useLoaded(`ocm ${fleet.checked?.at ?? ""}`, async (signal): Promise<Everything> => {
    const [placements, decisions, sets, works] = await Promise.all([
      list<Placement>(`${ROOT}/v1beta1/placements`, signal),
      list<Decision>(`${ROOT}/v1beta1/placementdecisions`, signal),
      list<ReplicaSet>(`${WORK}/v1alpha1/manifestworkreplicasets`, signal),
      list<Work>(`${WORK}/v1/manifestworks`, signal),
    ]);
    return { placements, decisions, sets, works };
  });
  const [, kind, namespace = "", name = ""] = route.path;
  if (kind === "why") return <WhyPlacement kind={route.path[4] ?? "placement"} namespace={namespace} name={name} />;
  if (error !== "") return <Failed reason={error} retry={reload} />;
  if (!value) return <Loading />;
  const { placements, decisions, sets, works } = value;
  if (placements.length + sets.length + works.length === 0)
    return (
      <Empty
        title={t("There are no Placements and no ManifestWorks")}
        commands={["kubectl apply -f examples/placement", "kubectl get placements,manifestworks -A"]}
      >
        {t("A Placement chooses members; a ManifestWorkReplicaSet delivers manifests to them.")}
      </Empty>
    );
  return (
    <div class="view">
      <div class="controls">
        <h1>{t("Placements and works")}</h1>
        <button type="button" class="end" onClick={reload}>
          {t("Read again")}
        </button>
      </div>
      {placements.length > 0 && <h2>{t("Placements")}</h2>}
      <div class="columns">
        {placements.map((placement) => (
          <PlacementCard
            key={`${placement.metadata.namespace}/${placement.metadata.name}`}
            placement={placement}
            decisions={decisions}
          />
        ))}
      </div>
      {sets.length > 0 && <h2>ManifestWorkReplicaSets</h2>}
      <div class="columns">
        {sets.map((set) => (
          <SetCard key={`${set.metadata.namespace}/${set.metadata.name}`} set={set} />
        ))}
      </div>
      {works.length > 0 && (
        <section class="panel">
          <h2>ManifestWorks</h2>
          <div class="scroll-x" tabIndex={0} role="group" aria-label="ManifestWorks">
            <table>
              <thead>
                <tr>
                  <th>{t("Member")}</th>
                  <th>{t("Name")}</th>
                  <th>{t("Applied")}</th>
                  <th>{t("Available")}</th>
                  <th>{t("Manifests")}</th>
                </tr>
              </thead>
              <tbody>
                {works.map(({ metadata, spec, status }) => (
                  <tr key={`${metadata.namespace}/${metadata.name}`}>
                    <td>
                      <a href={href(["member", metadata.namespace])}>{metadata.namespace}</a>
                    </td>
                    <td>
                      <a href={href(["ocm", "why", metadata.namespace, metadata.name, "manifestwork"])}>
                        {metadata.name}
                      </a>
                    </td>
                    <td>
                      <State conditions={status?.conditions} type="Applied" />
                    </td>
                    <td>
                      <State conditions={status?.conditions} type="Available" />
                    </td>
                    <td class="muted">
                      {(spec.workload?.manifests ?? [])
                        .map((manifest) => `${manifest.kind} ${manifest.metadata.name}`)
                        .join(", ")}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
      )}
    </div>
  );
}

function State({ conditions = [], type }: { conditions?: readonly Condition[] | undefined; type: string }) {
  const found = conditions.find((each) => each.type === type);
  const tone: Tone = found?.status === "True" ? "good" : found?.status === "False" ? "bad" : "idle";
  return (
    <span class={`state ${tone}`} title={found?.message}>
      <Glyph tone={tone} />
      {found?.status === "True" ? t("yes") : found?.status === "False" ? (found.reason ?? t("no")) : t("unknown")}
    </span>
  );
}

function Card({
  title,
  why,
  children,
  line,
}: {
  title: string;
  why: string;
  children: ComponentChildren;
  line: string;
}) {
  return (
    <section class="panel card">
      <header class="controls">
        <h3>{title}</h3>
        <a class="end" href={why}>
          {t("Why")}
        </a>
      </header>
      {children}
      <Command line={line} />
    </section>
  );
}

function PlacementCard({
  placement: { metadata, spec, status },
  decisions,
}: {
  placement: Placement;
  decisions: readonly Decision[];
}) {
  const chosen = decisions
    .filter(
      (each) =>
        each.metadata.namespace === metadata.namespace &&
        each.metadata.labels?.["cluster.open-cluster-management.io/placement"] === metadata.name,
    )
    .flatMap((each) => each.status?.decisions ?? []);
  return (
    <Card
      title={`${metadata.namespace}/${metadata.name}`}
      why={href(["ocm", "why", metadata.namespace, metadata.name, "placement"])}
      line={`flotilla why placement/${metadata.name} -n ${metadata.namespace}`}
    >
      <p>
        <State conditions={status?.conditions} type="PlacementSatisfied" />{" "}
        {spec.numberOfClusters === undefined
          ? t("{count} members chosen", { count: status?.numberOfSelectedClusters ?? chosen.length })
          : t("{count} of {all} members chosen", {
              count: status?.numberOfSelectedClusters ?? chosen.length,
              all: spec.numberOfClusters,
            })}
        {spec.clusterSets && <span class="muted"> · {spec.clusterSets.join(", ")}</span>}
      </p>
      <p class="chips">
        {chosen.slice(0, 40).map(({ clusterName }) => (
          <a key={clusterName} class="tag" href={href(["member", clusterName])}>
            {clusterName}
          </a>
        ))}
        {chosen.length > 40 && <span class="muted">{t("and {count} more", { count: chosen.length - 40 })}</span>}
      </p>
    </Card>
  );
}

function SetCard({ set: { metadata, spec, status } }: { set: ReplicaSet }) {
  const { total = 0, applied = 0, available = 0, degraded = 0 } = status?.summary ?? {};
  const strategies = spec.placementRefs
    .map(({ name, rolloutStrategy }) => `${name} (${rolloutStrategy?.type ?? "All"})`)
    .join(", ");
  return (
    <Card
      title={`${metadata.namespace}/${metadata.name}`}
      why={href(["ocm", "why", metadata.namespace, metadata.name, "manifestworkreplicaset"])}
      line={`flotilla why manifestworkreplicaset/${metadata.name} -n ${metadata.namespace}`}
    >
      <Bar
        wide
        desired={total}
        ready={available}
        updated={applied}
        tone={degraded > 0 ? "bad" : "good"}
        label={metadata.name}
      />
      <p>
        {t("{applied} applied, {available} available of {total}", { applied, available, total })}
        {degraded > 0 && <b class="bad"> {t("{count} degraded", { count: degraded })}</b>}
      </p>
      <p class="muted">{strategies}</p>
    </Card>
  );
}

interface OcmExplanation extends Explanation {
  prioritizers?: readonly { name: string; weight: number; scores: Readonly<Record<string, number>> }[];
  manifests?: readonly {
    kind: string;
    namespace?: string;
    name: string;
    applied?: boolean;
    available?: boolean;
    message?: string;
    unhealthy?: string;
    alsoBy?: string;
  }[];
  rollout?: readonly {
    placement: string;
    strategy: string;
    counts: Readonly<Record<string, number>>;
    clusters: readonly { cluster: string; state: string; message?: string }[];
  }[];
}

function WhyPlacement({ kind, namespace, name }: { kind: string; namespace: string; name: string }) {
  const { value, error, reload } = useLoaded(`why ${kind} ${namespace}/${name}`, (signal) =>
    request<OcmExplanation>(`why?${new URLSearchParams({ type: kind, name, namespace }).toString()}`, { signal }),
  );
  return (
    <div class="view">
      <h1>
        {kind} {namespace}/{name}
      </h1>
      {error !== "" ? (
        <Failed reason={error} retry={reload} />
      ) : value ? (
        <>
          <Why explanation={value} line={`flotilla why ${kind}/${name} -n ${namespace}`} />
          {(value.prioritizers ?? []).map(({ name: prioritizer, weight, scores }) => (
            <section key={prioritizer} class="panel">
              <h2>
                {prioritizer} <span class="muted">× {weight}</span>
              </h2>
              <p class="chips">
                {Object.entries(scores)
                  .sort(([, a], [, b]) => b - a)
                  .slice(0, 40)
                  .map(([cluster, score]) => (
                    <span key={cluster} class="tag">
                      {cluster} {score}
                    </span>
                  ))}
              </p>
            </section>
          ))}
          {(value.manifests ?? []).length > 0 && (
            <section class="panel">
              <h2>{t("Manifests")}</h2>
              <ul class="plain">
                {(value.manifests ?? []).map((manifest) => (
                  <li key={`${manifest.kind} ${manifest.namespace ?? ""}/${manifest.name}`}>
                    <Glyph
                      tone={
                        manifest.applied === false || manifest.unhealthy !== undefined
                          ? "bad"
                          : manifest.applied
                            ? "good"
                            : "idle"
                      }
                    />{" "}
                    {manifest.kind} {manifest.name} <span class="muted">{manifest.unhealthy ?? manifest.message}</span>{" "}
                    {manifest.alsoBy !== undefined && <span class="tag busy">{manifest.alsoBy}</span>}
                  </li>
                ))}
              </ul>
            </section>
          )}
          {(value.rollout ?? []).map(({ placement, strategy, clusters }) => (
            <section key={placement} class="panel">
              <h2>
                {placement} <span class="muted">{strategy}</span>
              </h2>
              <ul class="plain">
                {clusters.slice(0, 100).map(({ cluster, state, message }) => (
                  <li key={cluster}>
                    <b>{cluster}</b> {state} <span class="muted">{message}</span>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </>
      ) : (
        <Loading />
      )}
    </div>
  );
}
