import { render } from "preact";
import { arrive } from "./state/sign_in";
import { App } from "./ui/app";
import "./style/base.css";
import "./style/shell.css";
import "./style/talk.css";
import "./style/views.css";
import "./style/cockpit.css";
import "./style/agent.css";

// Whoever serves the page says of what it is a face: the hub's room, or a personal agent alone.
if (document.documentElement.dataset.face === "agent") {
  void import("./ui/agent/own").then((found) => found.startOwnPage());
} else {
  arrive();
  render(<App />, document.getElementById("app")!);
}
