/**
 * Runs the planners of Advanced DaemonSet on recorded inputs and returns results in the format of the recordings
 * (`openkruise-daemonset.jsonl`). Only for tests and `npm run golden`.
 */
import { defined } from "@flotilla/base";
import type { AdvancedDaemonSet } from "../daemonset-kind.ts";
import { nodeFitness, podTemplateData } from "@flotilla/kubernetes";
import type { Node, Pod, ReadonlyRevision } from "@flotilla/kubernetes";
import { changesOf } from "../../testdata/changes.ts";
import { RECORDED_AT } from "../../testdata/read-cases.ts";
import type { RecordedRun } from "../../testdata/read-cases.ts";
import { burstOf, nodesToFill, updateLimits } from "../limits.ts";
import { planManage } from "../manage.ts";
import { viewDaemonSet } from "../nodes.ts";
import type { DaemonView } from "../nodes.ts";
import { planDaemonStatus } from "../daemonset-status.ts";
import { placesInScope, planUpdate } from "../update.ts";
import { DEFAULT_GATES } from "../../api/feature-gates.ts";

interface ViewInput {
  daemonSet: AdvancedDaemonSet;
  nodes?: Node[];
  pods?: Pod[];
  updateHash: string;
}

const viewOf = ({ daemonSet, nodes = [], pods = [], updateHash }: ViewInput): DaemonView => viewDaemonSet(daemonSet, nodes, pods, updateHash, RECORDED_AT);
const nameOf = ({ metadata }: { readonly metadata: { readonly name: string } }): string => metadata.name;

function scopeOf(view: DaemonView): object {
  const names = placesInScope(view).map(({ node }) => node.name);
  // The recording has null for an empty list.
  return { ...updateLimits(view), nodesInScope: names.length > 0 ? names : null };
}

/** By the kind of the case. Created per recording, because one of the functions has a cache. */
export function createDaemonSetCases(): Readonly<Record<string, RecordedRun>> {
  // OpenKruise caches the pod of a set by its uid and generation. These cases have neither, so all of them were
  // recorded with the pod of the first; only the node name was read each time.
  let remembered: AdvancedDaemonSet["spec"]["template"] | undefined;
  return {
    nodesNeedingPods: ({ newPods, desired, partition, progressive, nodesNeedingPods = [] }: { newPods: number; desired: number; partition: number; progressive: boolean; nodesNeedingPods?: string[] }, want: { nodes: string[] | null }) => {
      const nodes = nodesToFill(nodesNeedingPods, { updated: newPods, desired, partition, isPartitioned: progressive });
      return { nodes: nodes.length > 0 ? nodes : (want.nodes && []) };
    },

    burst: ({ daemonSet }: { daemonSet: AdvancedDaemonSet }) => ({ value: burstOf(daemonSet) }),

    shouldRun: ({ daemonSet, node }: { daemonSet: AdvancedDaemonSet; node: Node }) => {
      const { template } = daemonSet.spec;
      remembered ??= template;
      const { nodeName } = template.spec ?? {};
      const spec = { containers: [], ...remembered.spec, ...defined({ nodeName }) };
      const { shouldRun, mayStay } = nodeFitness({ ...daemonSet, spec: { ...daemonSet.spec, template: { spec } } })(node);
      return { shouldRun, shouldContinueRunning: mayStay };
    },

    updateNodes: (input: ViewInput) => scopeOf(viewOf(input)),

    rollingUpdate: (input: ViewInput & { revisionImages: Record<string, string> }, want: Record<"createdOnNodes" | "deleted" | "inPlace", Chosen>) => {
      const view = viewOf(input);
      const revisions = Object.entries(input.revisionImages).map(([hash, image]) => revision(hash, image));
      const update = revisions.find(({ metadata }) => metadata.name === `demo-${input.updateHash}`) ?? revision(input.updateHash, "");
      const plan = planUpdate(view, { revisions, update, gates: DEFAULT_GATES });
      return {
        ...scopeOf(view),
        createdOnNodes: asChosen(plan.create, want.createdOnNodes),
        deleted: asChosen(plan.remove.map(nameOf), want.deleted),
        inPlace: asChosen(plan.inPlace.map(({ pod }) => nameOf(pod)), want.inPlace),
      };
    },

    manage: (input: ViewInput) => {
      const plan = planManage(viewOf(input), () => 0);
      return {
        changed: Object.fromEntries(plan.prepare.map(({ pod, after }) => [nameOf(pod), changesOf(pod, after)])),
        createdOnNodes: plan.create.toSorted(),
        deleted: plan.remove.map(nameOf).toSorted(),
        error: null,
      };
    },

    status: (input: ViewInput & { fullPass: boolean }) => {
      const { metadata, status } = input.daemonSet;
      return { status: planDaemonStatus(viewOf(input), input.fullPass ? metadata.generation : status?.observedGeneration) };
    },
  };
}

/**
 * Upstream walks nodes in random order: `always` are taken every time, and the others from `chosenFrom`. A count of -1
 * varied between runs.
 */
interface Chosen {
  always: string[];
  chosenFrom: string[];
  count: number;
}

/** Returns the recorded value if ours is one of the outcomes that it allows. */
function asChosen(names: readonly string[], want: Chosen): unknown {
  const isAllowed = want.always.every((name) => names.includes(name)) && names.every((name) => want.always.includes(name) || want.chosenFrom.includes(name)) && (want.count < 0 || names.length === want.count);
  return isAllowed ? want : names;
}

const revision = (hash: string, image: string): ReadonlyRevision => ({
  apiVersion: "apps/v1",
  kind: "ControllerRevision",
  metadata: { name: `demo-${hash}`, labels: { "controller-revision-hash": hash } },
  data: podTemplateData({ spec: { containers: [{ name: "main", image }] } }),
  revision: 1,
});
