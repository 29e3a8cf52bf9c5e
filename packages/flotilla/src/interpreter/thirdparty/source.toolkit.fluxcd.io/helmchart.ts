/**
 * Flux HelmChart. A member's observed generation is reflected, which Karmada omits, so that the template's can advance.
 * A chart packaged from a Git repository or a bucket has its own reason and is as healthy as one that is pulled.
 */
import { fluxInterpreter } from "../flux.ts";

export const helmChartInterpreter = fluxInterpreter({
  group: "source.toolkit.fluxcd.io",
  kind: "HelmChart",
  readyReasons: ["Succeeded", "ChartPullSucceeded", "ChartPackageSucceeded"],
  status: { last: ["artifact", "url", "observedChartName", "observedSourceArtifactRevision"] },
  references: { secrets: ["verify.secretRef"] },
});
