/** `flotilla apiserver`: runs the hub's API server and its store alone, until Ctrl-C. */
import { defineCommand } from "../command.ts";
import { temporaryData } from "../temporary-data.ts";
import { aborted, hubProcessFlags, hubProcessOptions, taintPolicyFlag } from "./serve-flags.ts";

export const apiserverCommand = defineCommand({
  name: "apiserver",
  summary: "run only the hub's API server; run the controllers with 'flotilla controllers'",
  details:
    "Serves the hub's API and stores its objects. Nothing is scheduled or delivered until 'flotilla " +
    "controllers' runs against it, on this or another machine. A line that starts with 'ready' is printed " +
    "when it responds. DIR/hub.kubeconfig is an administrator's, DIR/controllers.kubeconfig is for the " +
    "controllers.",
  serves: true,
  example: [
    { says: "Run the API server for this machine.", run: "flotilla apiserver --data ./hub" },
    {
      says: "Let agents and controllers on other machines connect.",
      run: "flotilla apiserver --data ./hub --bind-address 0.0.0.0 --advertise-address hub.example.com",
    },
    { says: "Run the controllers beside it.", run: "flotilla controllers --kubeconfig ./hub/controllers.kubeconfig" },
  ],
  args: [],
  flags: { "allow-no-execute-taint-policy": taintPolicyFlag, ...hubProcessFlags },
  async run({ flags, output, signal, roles, environment }) {
    using temporary = temporaryData(flags);
    const running = await roles.apiServer(
      {
        ...hubProcessOptions({ ...flags, data: temporary?.path ?? flags.data }, { environment, output }, "apiserver"),
        allowNoExecuteTaintPolicy: flags["allow-no-execute-taint-policy"],
      },
      (text) => output.progress(text),
      signal,
    );
    output.progress("");
    const { url, data, kubeconfigs, logFile } = running;
    output.result({ url, data, kubeconfigs, logFile }, () =>
      output.called(
        [
          `${output.paint.green("ready")}  ${url}  API server without controllers`,
          "",
          "Next, in another terminal:",
          `  ${output.paint.cyan(`flotilla controllers --kubeconfig ${kubeconfigs.controllers}`)}`,
          `  ${output.paint.cyan(`export KUBECONFIG=${kubeconfigs.hub}`)}`,
          "",
          `data      ${data}`,
          `log       ${logFile}`,
          ...(flags["no-ui"] ? [] : [`ui        ${url}/ui/, where users sign in with a token of the hub`]),
          "",
          "Ctrl-C stops.",
        ].join("\n"),
      ),
    );
    try {
      const failure = await Promise.race([running.failed, aborted(signal)]);
      if (failure) throw failure;
      output.say("stopping; press Ctrl-C again to exit at once");
    } finally {
      await running.stop();
    }
  },
});
