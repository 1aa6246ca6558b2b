"""A tool server on stdin and stdout made with the official Python SDK, as a user would write it."""

from mcp.server.mcpserver import MCPServer

server = MCPServer("sdk-stdio")


@server.tool()
def reverse(text: str) -> str:
    """Returns the text backwards."""
    return text[::-1]


@server.tool()
def divide(dividend: float, divisor: float) -> float:
    """Divides; by zero is a tool error."""
    return dividend / divisor


if __name__ == "__main__":
    server.run("stdio")
