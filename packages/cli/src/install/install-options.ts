/** Flags that say what is installed on an existing cluster. */
import { didYouMean, UsageError } from "@flotilla/base";
import { WORKLOAD_PROJECTS } from "@flotilla/flotilla";
import type { WorkloadProject } from "@flotilla/flotilla";

/** `openkruise,argo`, or `none`. */
export function projectsIn(text: string): WorkloadProject[] {
  if (text === "none") return [];
  const names = text.split(",").map((name) => name.trim());
  return [
    ...new Set(
      names.map((name) => {
        const project = WORKLOAD_PROJECTS.find((each) => each === name);
        if (!project)
          throw new UsageError(
            `--workloads: '${name}' is not known${didYouMean(name, WORKLOAD_PROJECTS)}; use ${WORKLOAD_PROJECTS.join(", ")}, or none`,
          );
        return project;
      }),
    ),
  ];
}

/** `hub.example.com:9443` */
export function addressIn(text: string | undefined): { host: string; port: number } | undefined {
  if (text === undefined) return undefined;
  const [, host = "", port = ""] =
    /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?):(\d{1,5})$/.exec(text)?.filter((_, index) => index !== 2) ?? [];
  if (host === "" || Number(port) < 1 || Number(port) > 65_535)
    throw new UsageError(`--address ${text} is not HOST:PORT with a DNS name as HOST, such as hub.example.com:9443`);
  return { host, port: Number(port) };
}
