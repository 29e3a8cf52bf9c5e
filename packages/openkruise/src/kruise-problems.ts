/**
 * What is wrong with objects of kinds that run no pods of their own, by kind. Commands load it without the rules and
 * controllers of the kinds.
 */
import { parseApiVersion } from "@flotilla/apimachinery";
import { recreateProblem } from "./containerrecreaterequest/containerrecreaterequest-problem.ts";
import { ephemeralProblem } from "./ephemeraljob/ephemeraljob-problem.ts";
import { imageListPullProblem } from "./imagelistpulljob/imagelistpulljob-problem.ts";
import { imagePullProblem } from "./imagepulljob/imagepulljob-problem.ts";
import { distributionProblem } from "./resourcedistribution/resourcedistribution-problem.ts";
import { spreadProblem } from "./workloadspread/workloadspread-problem.ts";
import { judgedBy } from "./interpreter/own-problem.ts";
import type { Judge } from "./interpreter/own-problem.ts";

/** Controllers that only report that they have seen the object. */
const isSeen = judgedBy(() => undefined);

const JUDGES: ReadonlyMap<string, Judge> = new Map(
  Object.entries({
    ImagePullJob: judgedBy(imagePullProblem),
    ImageListPullJob: judgedBy(imageListPullProblem),
    ContainerRecreateRequest: judgedBy(recreateProblem),
    EphemeralJob: judgedBy(ephemeralProblem),
    ResourceDistribution: judgedBy(distributionProblem),
    WorkloadSpread: judgedBy(spreadProblem),
    PersistentPodState: isSeen,
    PodProbeMarker: isSeen,
  }),
);

/** Undefined for other kinds: their problems are those of workloads, or of other objects. */
export const kruiseJudgeOf = ({ apiVersion, kind }: { apiVersion: string; kind: string }): Judge | undefined =>
  parseApiVersion(apiVersion).group === "apps.kruise.io" ? JUDGES.get(kind) : undefined;
