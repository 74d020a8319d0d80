"""A call as the model saw it, read alike from all three formats."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Seen:
    """One model call: which format, the raw body, and what is in it by role."""

    dialect: str
    """`responses`, `chat` or `messages`."""
    body: dict
    headers: dict = field(repr=False)

    @property
    def said(self) -> list[tuple[str, str]]:
        """Every text with its role, in order: `system`, `developer`, `user`, `assistant`, `tool`."""
        return {"responses": _responses, "chat": _chat, "messages": _messages}[self.dialect](self.body)

    def texts(self, *roles: str) -> list[str]:
        """The texts of these roles."""
        return [text for role, text in self.said if role in roles]

    @property
    def system(self) -> str:
        """All that stands above the conversation."""
        return "\n".join(self.texts("system", "developer"))

    @property
    def tools(self) -> list[str]:
        """The names of the tools on offer, as the wire has them (`namespace/name` for nested ones)."""
        names = []
        for tool in self.body.get("tools") or []:
            if tool.get("type") == "namespace":
                names += [f"{tool['name']}/{inner['name']}" for inner in tool["tools"]]
            else:
                names.append((tool.get("function") or tool).get("name") or tool.get("type", ""))
        return names

    def offered(self, tool: str) -> str:
        """The wire name of a tool given by its bare name."""
        for name in self.tools:
            if name == tool or name.replace("/", "__").endswith(f"__{tool}"):
                return name
        raise LookupError(f"{tool} is not among {self.tools}")


def _flat(content) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(
        part.get("text") if isinstance(part.get("text"), str) else _flat(part.get("content") or "")
        for part in content or []
        if isinstance(part, dict)
    )


def _responses(body) -> list[tuple[str, str]]:
    said = [("system", body["instructions"])] if body.get("instructions") else []
    items = body.get("input") or []
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        if item.get("type") in {"function_call_output", "custom_tool_call_output"}:
            said.append(("tool", _flat(item.get("output") or "")))
        elif item.get("role"):
            said.append((item["role"], _flat(item.get("content"))))
    return said


def _chat(body) -> list[tuple[str, str]]:
    return [(message["role"], _flat(message.get("content"))) for message in body.get("messages") or []]


def _messages(body) -> list[tuple[str, str]]:
    said = [("system", _flat(body["system"]))] if body.get("system") else []
    for message in body.get("messages") or []:
        content = message.get("content")
        if isinstance(content, str):
            said.append((message["role"], content))
            continue
        for part in content:
            if part.get("type") == "tool_result":
                said.append(("tool", _flat(part.get("content") or "")))
            elif part.get("type") == "text":
                said.append((message["role"], part["text"]))
    return said
