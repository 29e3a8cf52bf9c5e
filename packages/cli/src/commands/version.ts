import { defineCommand } from "../command.ts";
import { VERSION } from "@flotilla/base";
import { KUBERNETES_VERSION } from "../version.ts";

export const versionCommand = defineCommand({
  name: "version",
  summary: "print the version of flotilla and of the Kubernetes API that it serves",
  example: [
    { says: "For people.", run: "flotilla version" },
    { says: "For programs.", run: "flotilla version -o json" },
  ],
  args: [],
  flags: {},
  run({ output }) {
    output.result({ flotilla: VERSION, kubernetes: KUBERNETES_VERSION, node: process.versions.node }, () =>
      [
        `flotilla    ${VERSION}`,
        `kubernetes  ${KUBERNETES_VERSION} (API)`,
        `node        ${process.versions.node}`,
      ].join("\n"),
    );
    return Promise.resolve();
  },
});
