/** `flotilla ui`: serves the web UI in front of a hub, on this machine. */
import { defineCommand } from "../command.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";
import { aborted } from "./serve-flags.ts";

export const uiCommand = defineCommand({
  name: "ui",
  summary: "serve the web UI of a hub on this machine, and print the link that signs in",
  details:
    "The UI listens on 127.0.0.1 only. It has the rights of the kubeconfig, which never reaches the " +
    "browser. The link signs in once, within a minute; run the command again for another one. 'flotilla " +
    "up' serves the UI itself, and prints such a link.",
  serves: true,
  example: [
    { says: "Open the UI of the hub of $KUBECONFIG.", run: "flotilla ui --open" },
    {
      says: "Serve the UI of another hub on a port of your choice.",
      run: "flotilla ui --kubeconfig hub.kubeconfig --port 8080",
    },
    { says: "See the fleet as another user.", run: "flotilla ui --as ann" },
  ],
  args: [],
  flags: {
    port: {
      type: "integer",
      value: "P",
      default: 0,
      maximum: 65_535,
      description: "port to listen on; 0 takes any free one",
    },
    open: { type: "boolean", description: "open the link in the browser" },
    ...hubFlags,
  },
  async run({ flags, output, signal, environment, startConsole, openBrowser }) {
    const console = await startConsole(hubKubeconfig(flags, environment), flags.port);
    try {
      const link = console.link();
      output.progress("");
      output.result({ ui: link }, () => `ui ${link}\n\nThe link signs in once, within a minute. Ctrl-C stops.`);
      if (flags.open && !(await openBrowser(link))) output.warn("no browser could be started; open the link yourself");
      await aborted(signal);
    } finally {
      await console.close();
    }
  },
});
