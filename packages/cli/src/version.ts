import { readFileSync } from "node:fs";

const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

export const VERSION = version;
/** The Kubernetes version whose API is served. */
export const KUBERNETES_VERSION = "v1.36.3";
