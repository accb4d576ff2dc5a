class Arms:
    def __init__(self, tree, origin):
        self.tree, self.origin = tree, origin
    def run(self, module):
        exec(compile(self.tree, self.origin, "exec"), module.__dict__)
