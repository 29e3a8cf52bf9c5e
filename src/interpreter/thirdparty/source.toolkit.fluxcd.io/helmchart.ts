/**
 * Flux HelmChart. The generation that a member has observed is brought back, which Karmada forgets, so that the
 * template's can follow. A chart that is packaged from a Git repository or a bucket has a reason of its own and is as
 * healthy as one that is pulled.
 */
import { fluxInterpreter } from "../flux.ts";

export const helmChartInterpreter = fluxInterpreter({
  group: "source.toolkit.fluxcd.io",
  kind: "HelmChart",
  readyReasons: ["Succeeded", "ChartPullSucceeded", "ChartPackageSucceeded"],
  status: { last: ["artifact", "url", "observedChartName", "observedSourceArtifactRevision"] },
  references: { secrets: ["verify.secretRef"] },
});
